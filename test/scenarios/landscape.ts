import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import type { Landscape } from '../../shared/config/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import { base64, eventually, type Stage } from './stage.ts';

const pullSecretName = 'shoot-flux-pull-secret';
const allowed = 'https://git.example.com/fleet';
const refused = 'https://evil.example/fleet';
const onlyOurs: Landscape = { policy: { allowedRepositoryUrls: ['https://git.example.com/**'] } };
const sentence = (url: string) =>
  `ConfigMap garden-foo/flux-config: repositoryUrl "${url}" is not allowed by allowedRepositoryUrls in the policy of this landscape; use `;

/** Defaults and policy of a landscape, on embedded or real API servers. */
export const landscapeSuite = stageSuite((stage) => {
  const setUrl = (repositoryUrl: string) => stage.setFluxConfig({ repositoryUrl, syncMode: 'Reconcile' });
  const untilUrl = (url: string) =>
    stage.untilInShoot(
      gitRepositories,
      'main-gitrepo',
      (source) => (source?.spec as { url?: string } | undefined)?.url === url,
    );
  const bootstrap = async () => {
    await setUrl(allowed);
    await stage.deliver();
    await stage.bootstrap();
    await stage.quiet();
  };
  const contents = async () =>
    Object.values(await stage.managedResources()).map(({ metadata, spec }) => [metadata.uid, spec.secretRefs]);

  it('refuses a repository: the Shoot gets nothing of it until the configuration is corrected', async () => {
    await stage.setLandscape(onlyOurs);
    await setUrl(refused);
    await stage.reconcileShoot();
    const { codes } = await stage.untilError(sentence(refused));
    expect(codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
    expect(await stage.managedResources()).toEqual({});
    await setUrl(allowed);
    await stage.untilReady();
    await untilUrl(allowed);
  });

  it('keeps what a running Shoot has when the policy becomes stricter, and its operations succeed', async () => {
    await bootstrap();
    const before = await contents();
    const stricter = { policy: { allowedRepositoryUrls: ['https://other.example.com/**'] } };
    await stage.setLandscape(stricter);
    const words = `${sentence(allowed)}https://other.example.com/**. (config `;
    await stage.untilCondition('ConfigurationFollowed', words);
    await stage.deliver();
    expect(await contents()).toEqual(before);

    // An edit is the user's, and fails; what was applied stays.
    await setUrl(refused);
    await stage.untilError(sentence(refused));
    expect(await contents()).toEqual(before);
    await setUrl('https://other.example.com/fleet');
    await stage.deliver();
    await untilUrl('https://other.example.com/fleet');
  });

  it('gives a running Shoot another default in its turn, for which the labels of its project count', async () => {
    const garden = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'garden' } };
    await stage.garden.apply(resources.namespaces, garden, { fieldManager: 'operators' });
    const rollout = { waves: [{ name: 'all', projects: {} }], maxInProgress: 1 };
    await stage.setLandscape({ rollout });
    await bootstrap();
    const landscape = async () => (await stage.extension()).status?.state?.applied?.landscape;
    const before = await landscape();
    expect(before).toMatch(/^[0-9a-f]{12}$/);
    await stage.setLandscape({ rollout, defaults: { flux: { logLevel: 'debug' } } });
    const after = await eventually('its turn', landscape, (revision) => revision !== before);
    const status = await stage.garden.find(resources.configMaps, { namespace: 'garden', name: 'flux-status' });
    expect(status?.data).toMatchObject({ LandscapeRollout: expect.stringMatching(`^Revision ${after} `) });
  });

  it('warns of images that a Shoot with IPv6 alone may not reach, until Flux was Ready', async () => {
    await setUrl(allowed);
    const onlyIPv6 = { spec: { networking: { ipFamilies: ['IPv6'] } } };
    await stage.deliver(onlyIPv6);
    const warning = expect.stringMatching(
      /^configuration: flux\.registry "ghcr\.io\/fluxcd" is on ghcr\.io, which has no/,
    );
    expect(await stage.events('ConfigurationWarning')).toMatchObject([{ message: warning }]);
    expect((await stage.extension()).status?.providerStatus).toMatchObject({ warnings: [warning] });
    await stage.bootstrap();
    await stage.deliver(onlyIPv6);
    expect((await stage.extension()).status?.providerStatus).not.toHaveProperty('warnings');
  });

  it('warns of a Kubernetes that Flux does not support, and a policy against it keeps what a running Shoot has', async () => {
    await bootstrap();
    const upgraded = { spec: { kubernetes: { version: '1.99.1' } } };
    await stage.deliver(upgraded);
    const remedy = 'ask the operators of the landscape for a Flux release that supports it';
    const warning = expect.stringMatching(
      `^configuration: flux\\.version resolves to Flux v2\\S+, which supports Kubernetes 1\\.\\d+ to 1\\.\\d+, but the Shoot has 1\\.99\\.1; ${remedy}`,
    );
    expect(await stage.events('ConfigurationWarning')).toMatchObject([{ message: warning }]);
    expect((await stage.extension()).status?.providerStatus).toMatchObject({ warnings: [warning] });

    const before = await contents();
    await stage.setLandscape({ policy: { requireSupportedKubernetes: true } });
    const error = 'which is not allowed by requireSupportedKubernetes in the policy of this landscape; ';
    await stage.untilCondition('ConfigurationFollowed', error + remedy);
    await stage.deliver(upgraded);
    expect(await contents()).toEqual(before);
    expect(await stage.events('ConfigurationWarning')).toHaveLength(1);
  });

  it('does not fail running Shoots where defaults and policy come at the same time', async () => {
    await bootstrap();
    const before = await contents();
    await createPullSecret(stage, 'first');
    await stage.setLandscape({ ...onlyOurs, defaults: { flux: { logLevel: 'debug' }, pullSecret: {} } });
    await eventually('the defaults', contents, (now) => JSON.stringify(now) !== JSON.stringify(before));
    await stage.setLandscape({
      defaults: { flux: { logLevel: 'error' } },
      policy: { allowedRepositoryUrls: ['https://other.example.com/**'] },
    });
    await stage.quiet();
    const { status } = await stage.deliver();
    expect(status?.lastError).toBeFalsy();
    expect(status?.state?.applied?.problem).toContain(sentence(allowed));
  });

  it.each<[string, Place]>([
    ['garden', {}],
    ['seed', { in: 'seed', namespace: 'registry', name: 'robot' }],
  ])('delivers the pull secret of the %s into the shoot, also after its rotation', async (_place, pullSecret) => {
    await createPullSecret(stage, 'first', pullSecret);
    await stage.setLandscape({ defaults: { pullSecret } });
    await stage.deliver();
    const inShoot = () => stage.inShoot(resources.secrets, pullSecretName);
    expect(await inShoot()).toMatchObject({ type: 'kubernetes.io/dockerconfigjson', data: dataOf('first') });
    const deployment = await stage.specInShoot(resources.deployments, 'source-controller');
    expect(deployment).toMatchObject({ template: { spec: { imagePullSecrets: [{ name: pullSecretName }] } } });

    await createPullSecret(stage, 'second', pullSecret);
    // As the hourly resync does.
    await stage.setLandscape({ defaults: { pullSecret } });
    await eventually(
      'the new credentials',
      inShoot,
      (secret) => JSON.stringify(secret?.data) === JSON.stringify(dataOf('second')),
    );
    const said = stage.logLines.join('') + JSON.stringify(await stage.extension());
    for (const secret of ['first', 'second']) {
      expect(said).not.toContain(passwordOf(secret));
      expect(said).not.toContain(dataOf(secret)['.dockerconfigjson']);
    }
  });

  it('does not fail running Shoots when the pull secret is gone, and new ones say who corrects it', async () => {
    const missing =
      "Secret garden/shoot-flux-pull-secret in the garden, the landscape's pull secret, does not exist; the operators of this landscape have to correct it.";
    await bootstrap();
    const before = await contents();
    await stage.setLandscape({ defaults: { pullSecret: {} } });
    await stage.until('the problem', ({ state }) => state?.applied?.problem === missing);
    await stage.deliver();
    expect(await contents()).toEqual(before);
  });
});

/** Creates the pull secret, or rotates it. */
async function createPullSecret(stage: Stage, text: string, place: Place = {}): Promise<void> {
  const { in: cluster = 'garden', namespace = 'garden', name = pullSecretName } = place;
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await stage[cluster].apply(resources.namespaces, space, { fieldManager: 'operator' });
  const type = 'kubernetes.io/dockerconfigjson';
  await stage.putSecret(cluster, { namespace, name }, { '.dockerconfigjson': configOf(text) }, { type });
}

interface Place {
  in?: 'garden' | 'seed';
  namespace?: string;
  name?: string;
}

const passwordOf = (text: string) => `marked-password-${text}`;

const configOf = (text: string) =>
  JSON.stringify({ auths: { 'registry.example.com': { username: 'robot', password: passwordOf(text) } } });
const dataOf = (text: string) => ({ '.dockerconfigjson': base64(configOf(text)) });
