import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { gitRepositories, kustomizations, ociRepositories } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { type Resource, resources } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import { base64, eventually, inProject, PROJECT, providerConfig } from './stage.ts';

const age = (text: string) => `AGE-SECRET-KEY-1${text}\n`;

/** The Secrets of a project with fixed names, on embedded or real API servers. */
export const projectSecretsSuite = stageSuite((stage) => {
  const put = (secret: string, values: Record<string, string>, type = 'Opaque') =>
    stage.putSecret('garden', inProject(secret), values, { type });
  const putRegistry = (password: string, more: Record<string, string> = {}) =>
    put(
      'flux-registry',
      {
        '.dockerconfigjson': JSON.stringify({ auths: { 'registry.example.com': { username: 'robot', password } } }),
        ...more,
      },
      'kubernetes.io/dockerconfigjson',
    );
  const inShoot = (secret: string) => stage.inShoot(resources.secrets, secret);
  const untilInShoot = (secret: string, key: string, value: string) =>
    stage.untilInShoot(
      resources.secrets,
      secret,
      (live) => (live?.data as Record<string, string> | undefined)?.[key] === base64(value),
    );
  const rootSpec = () => stage.specInShoot(kustomizations, 'main-ks');
  const expectPullSecret = async () => {
    const imagePullSecrets = [{ name: 'flux-registry' }];
    const deployment = await stage.specInShoot(resources.deployments, 'source-controller');
    expect(deployment).toMatchObject({ template: { spec: { imagePullSecrets } } });
    expect(await inShoot('flux-registry')).toMatchObject({ type: 'kubernetes.io/dockerconfigjson' });
  };
  const bringUp = async (data: Record<string, string> = {}) => {
    await stage.setFluxConfig({ repositoryUrl: 'https://git.example.com/fleet', syncMode: 'Reconcile', ...data });
    await stage.deliver();
  };

  it('come up with the Shoot, without an entry in spec.resources', async () => {
    await put('flux-sops', { 'age.agekey': age('FIRST') });
    await put('flux-variables', { team: 'blue' });
    await putRegistry('first');
    await bringUp();
    expect(await inShoot('flux-sops')).toMatchObject({ data: { 'age.agekey': base64(age('FIRST')) } });
    expect(await rootSpec()).toMatchObject({
      decryption: { provider: 'sops', secretRef: { name: 'flux-sops' } },
      postBuild: { substituteFrom: [{ name: 'shoot-facts' }, { name: 'flux-variables', optional: true }] },
    });
    await expectPullSecret();
  });

  it('reach running Shoots when they are created, rotated and deleted', async () => {
    await bringUp();
    const before = await rootSpec();
    expect(before).not.toHaveProperty('decryption');
    await put('flux-sops', { 'age.agekey': age('FIRST') });
    await untilInShoot('flux-sops', 'age.agekey', age('FIRST'));
    await eventually('the decryption', rootSpec, (spec) => spec?.decryption !== undefined);
    await put('flux-sops', { 'age.agekey': age('SECOND') });
    await untilInShoot('flux-sops', 'age.agekey', age('SECOND'));
    await stage.garden.delete(resources.secrets, inProject('flux-sops'));
    await stage.untilInShoot(resources.secrets, 'flux-sops', (live) => live === undefined);
    await eventually('the former Kustomization', rootSpec, (spec) => spec?.decryption === undefined);
    expect(await rootSpec()).toEqual(before);
    await stage.quiet();
    const said = stage.logLines.join('') + JSON.stringify(await stage.extension());
    for (const key of ['FIRST', 'SECOND']) expect(said).not.toContain(age(key).trim());
  });

  it('bring the certificate of a registry, and rotate and remove it', async () => {
    const artifact = {
      kind: 'OCIRepository',
      metadata: { name: 'artifact' },
      spec: { interval: '1h', url: 'oci://registry.example.com/artifact', ref: { tag: 'v1' } },
    };
    const spec = () => stage.specInShoot(ociRepositories, 'artifact');
    const [first, second] = [loopbackCertificate().cert, loopbackCertificate().cert];
    await putRegistry('first', { 'ca.crt': first });
    await bringUp({ 'config.yaml': JSON.stringify({ objects: [artifact] }) });
    const credentials = { secretRef: { name: 'flux-registry' } };
    expect(await spec()).toMatchObject({ ...credentials, certSecretRef: { name: 'flux-registry-ca' } });
    expect(await inShoot('flux-registry-ca')).toMatchObject({ type: 'Opaque', data: { 'ca.crt': base64(first) } });
    expect(Object.keys((await inShoot('flux-registry'))?.data ?? {})).toEqual(['.dockerconfigjson']);
    await putRegistry('first', { 'ca.crt': second });
    await untilInShoot('flux-registry-ca', 'ca.crt', second);
    await stage.garden.delete(resources.secrets, inProject('flux-registry'));
    await putRegistry('first');
    await stage.untilInShoot(resources.secrets, 'flux-registry-ca', (live) => live === undefined);
    await eventually('the public authorities', spec, (live) => live?.certSecretRef === undefined);
    expect(await spec()).toMatchObject(credentials);
  });

  it('leave a shoot only once nothing there needs them: released controllers pull their images', async () => {
    await putRegistry('first');
    await put('flux-sops', { 'age.agekey': age('FIRST') });
    await bringUp({ syncMode: 'ManifestsOnly' });
    await stage.bootstrap();
    await eventually('the release of Flux', stage.managedResources, (live) => !('shoot-flux-controllers' in live));
    await stage.quiet();
    for (const secret of ['flux-registry', 'flux-sops']) {
      await stage.garden.delete(resources.secrets, inProject(secret));
    }
    await stage.untilInShoot(resources.secrets, 'flux-sops', (live) => live === undefined);
    await stage.quiet();
    expect(await rootSpec()).not.toHaveProperty('decryption');
    await expectPullSecret();
  });

  const requestedAt = async (kind: Resource, object: string) =>
    (await stage.inShoot(kind, object))?.metadata.annotations?.['reconcile.fluxcd.io/requestedAt'];
  const bothRequested = async () => [
    await requestedAt(gitRepositories, 'main-gitrepo'),
    await requestedAt(kustomizations, 'main-ks'),
  ];
  const untilRequestedAfter = (before: (string | undefined)[]) =>
    eventually('another request', bothRequested, (times) => times.every((time, index) => time !== before[index]));

  it.each(['Reconcile', 'Once'])(
    'mode %s: Flux is asked to take up a rotated Secret, and when a user asks, and otherwise not',
    async (syncMode) => {
      await put('flux-variables', { team: 'blue' });
      await bringUp({ syncMode });
      await stage.bootstrap();
      await stage.quiet();
      expect(await bothRequested()).toEqual([undefined, undefined]);
      await put('flux-variables', { team: 'green' });
      await untilInShoot('flux-variables', 'team', 'green');
      const rotated = await untilRequestedAfter([undefined, undefined]);
      await stage.quiet();
      expect(await bothRequested()).toEqual(rotated);
      const asking = (value: string) => ({ 'flux.extensions.gardener.cloud/reconcile-at': value });
      await stage.annotateFluxConfig(asking('now'));
      await untilRequestedAfter(rotated);
      await stage.quiet();
      const asked = await bothRequested();
      await stage.deliver();
      await stage.reconcileShoot({ metadata: { annotations: asking('1') } });
      await untilRequestedAfter(asked);
    },
  );

  it('say in one sentence why one cannot be used, on the Shoot and on the ConfigMap, and what is applied stays', async () => {
    await put('flux-sops', { 'age.agekey': age('FIRST') });
    await bringUp();
    await put('flux-sops', { 'age.agekey': 'age1publickey' });
    const problem = `Secret ${PROJECT}/flux-sops has no line AGE-SECRET-KEY-… in "age.agekey"; add the private key as age-keygen prints it`;
    await stage.untilError(problem);
    const events = await stage.untilEvent('InvalidSecret', problem);
    expect(events.map(({ message }) => message)).toContain(`${problem}.`);
    expect(await inShoot('flux-sops')).toMatchObject({ data: { 'age.agekey': base64(age('FIRST')) } });
    await put('flux-sops', { 'age.agekey': age('SECOND') });
    await stage.untilReady();
    await untilInShoot('flux-sops', 'age.agekey', age('SECOND'));
  });

  it('count without a flux-config only where the configuration names them', async () => {
    await put('flux-sops', { 'age.agekey': age('FIRST') });
    await putRegistry('first');
    const template = { spec: { path: './', decryption: { provider: 'sops', secretRef: { name: 'flux-sops' } } } };
    await stage.deliver({ providerConfig: providerConfig({ kustomization: { template } }) });
    expect(await inShoot('flux-sops')).toMatchObject({ data: { 'age.agekey': base64(age('FIRST')) } });
    expect(await inShoot('flux-registry')).toBeUndefined();
  });
});
