import { generateKeyPairSync } from 'node:crypto';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from './around-each-test.ts';
import { quiet } from './main-job.ts';
import { type Apis, eventually, PROJECT, type Stage } from './stage.ts';

const fieldManager = 'person';
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const inProject = (name: string) => ({ namespace: PROJECT, name });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const URL = 'https://git.example.com/fleet';
const age = (text: string) => `AGE-SECRET-KEY-1${text}\n`;

/** The Secrets of a project with fixed names, on embedded or real API servers. */
export function projectSecretsSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const put = (secret: string, values: Record<string, string>, type = 'Opaque') =>
      stage.garden.apply(
        resources.secrets,
        {
          ...{ apiVersion: 'v1', kind: 'Secret', metadata: inProject(secret), type },
          data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])),
        } as KubeObject,
        { fieldManager },
      );
    const putRegistry = (password: string) =>
      put(
        'flux-registry',
        { '.dockerconfigjson': JSON.stringify({ auths: { 'registry.example.com': { username: 'robot', password } } }) },
        'kubernetes.io/dockerconfigjson',
      );
    const inShoot = (secret: string) => stage.shoot.find(resources.secrets, inFlux(secret));
    const untilInShoot = (secret: string, key: string, value: string) =>
      eventually(
        `${secret} in the shoot`,
        () => inShoot(secret),
        (live) => (live?.data as Record<string, string> | undefined)?.[key] === base64(value),
      );
    const rootSpec = async () =>
      (await stage.shoot.find(kustomizations, inFlux('main-ks')))?.spec as Record<string, unknown> | undefined;
    const bringUp = async (data: Record<string, string> = {}) => {
      await stage.setFluxConfig({ repositoryUrl: URL, syncMode: 'Reconcile', ...data });
      await stage.reconcileShoot();
      await stage.untilReady();
    };

    it('come up with the Shoot, without an entry in spec.resources', async () => {
      await put('flux-sops', { 'age.agekey': age('FIRST') });
      await put('flux-variables', { team: 'blue' });
      await putRegistry('first');
      await bringUp();
      expect(await inShoot('flux-sops')).toMatchObject({ data: { 'age.agekey': base64(age('FIRST')) } });
      expect(await inShoot('flux-registry')).toMatchObject({ type: 'kubernetes.io/dockerconfigjson' });
      expect(await rootSpec()).toMatchObject({
        decryption: { provider: 'sops', secretRef: { name: 'flux-sops' } },
        postBuild: { substituteFrom: [{ name: 'shoot-facts' }, { name: 'flux-variables', optional: true }] },
      });
      const deployment = await stage.shoot.find(resources.deployments, inFlux('source-controller'));
      expect(deployment?.spec).toMatchObject({ template: { spec: { imagePullSecrets: [{ name: 'flux-registry' }] } } });
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
      await eventually(
        'the removal of the copy',
        () => inShoot('flux-sops'),
        (live) => live === undefined,
      );
      await eventually('the former Kustomization', rootSpec, (spec) => spec?.decryption === undefined);
      expect(await rootSpec()).toEqual(before);
      await quiet(stage);
      const said = stage.logLines.join('') + JSON.stringify(await stage.extension());
      for (const key of ['FIRST', 'SECOND']) expect(said).not.toContain(age(key).trim());
    });

    it('follow their project with syncMode Once, too', async () => {
      await put('flux-variables', { team: 'blue' });
      await bringUp({ syncMode: 'Once' });
      await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
      await eventually('the first success', stage.extension, ({ status }) => status?.state?.bootstrapped !== undefined);
      await quiet(stage);
      await put('flux-variables', { team: 'green' });
      await untilInShoot('flux-variables', 'team', 'green');
    });

    it('leave a shoot only once nothing there needs them: released controllers pull their images', async () => {
      await putRegistry('first');
      await put('flux-sops', { 'age.agekey': age('FIRST') });
      await bringUp({ syncMode: 'ManifestsOnly' });
      await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
      await eventually('the release of Flux', stage.managedResources, (live) => !('shoot-flux-controllers' in live));
      await quiet(stage);
      for (const name of ['flux-registry', 'flux-sops']) await stage.garden.delete(resources.secrets, inProject(name));
      await eventually(
        'the removal of the keys',
        () => inShoot('flux-sops'),
        (live) => live === undefined,
      );
      await quiet(stage);
      expect(await rootSpec()).not.toHaveProperty('decryption');
      const deployment = await stage.shoot.find(resources.deployments, inFlux('source-controller'));
      expect(deployment?.spec).toMatchObject({ template: { spec: { imagePullSecrets: [{ name: 'flux-registry' }] } } });
      expect(await inShoot('flux-registry')).toMatchObject({ type: 'kubernetes.io/dockerconfigjson' });
    });

    const requestedAt = async (kind: Resource, object: string) =>
      (await stage.shoot.find(kind, inFlux(object)))?.metadata.annotations?.['reconcile.fluxcd.io/requestedAt'];
    const bothRequested = async () => [
      await requestedAt(gitRepositories, 'main-gitrepo'),
      await requestedAt(kustomizations, 'main-ks'),
    ];
    const annotate = (value: string) =>
      stage.garden.mergePatch(
        resources.configMaps,
        inProject('flux-config'),
        { metadata: { annotations: { 'flux.extensions.gardener.cloud/reconcile-at': value } } },
        { fieldManager },
      );

    it.each(['Reconcile', 'Once'])(
      'mode %s: Flux is asked to take up a rotated Secret, and when a user asks, and otherwise not',
      async (syncMode) => {
        await put('flux-variables', { team: 'blue' });
        await bringUp({ syncMode });
        await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
        await eventually(
          'the first success',
          stage.extension,
          ({ status }) => status?.state?.bootstrapped !== undefined,
        );
        await quiet(stage);
        expect(await bothRequested()).toEqual([undefined, undefined]);
        await put('flux-variables', { team: 'green' });
        const rotated = await eventually('the request', bothRequested, (times) => !times.includes(undefined));
        await quiet(stage);
        expect(await bothRequested()).toEqual(rotated);
        await annotate('now');
        await eventually('another request', bothRequested, (times) =>
          times.every((time, index) => time !== rotated[index]),
        );
        await quiet(stage);
        const asked = await bothRequested();
        await stage.reconcileShoot();
        await stage.untilReady();
        await stage.reconcileShoot({
          metadata: { annotations: { 'flux.extensions.gardener.cloud/reconcile-at': '1' } },
        });
        await eventually('the request on the Shoot', bothRequested, (times) =>
          times.every((time, index) => time !== asked[index]),
        );
      },
    );

    it('say in one sentence why one cannot be used, on the Shoot and on the ConfigMap, and what is applied stays', async () => {
      await put('flux-sops', { 'age.agekey': age('FIRST') });
      await bringUp();
      await put('flux-sops', { 'age.agekey': 'age1publickey' });
      const problem = `Secret ${PROJECT}/flux-sops has no line AGE-SECRET-KEY-… in "age.agekey"; add the private key as age-keygen prints it`;
      const isSaid = (text: string | undefined) => text?.includes(problem) === true;
      await eventually('lastError', stage.extension, ({ status }) => isSaid(status?.lastError?.description));
      await eventually(
        'the Event',
        async () => (await stage.garden.list(resources.events, { namespace: PROJECT })).items,
        (events) => events.some(({ reason, message }) => reason === 'InvalidSecret' && message === `${problem}.`),
      );
      expect(await inShoot('flux-sops')).toMatchObject({ data: { 'age.agekey': base64(age('FIRST')) } });
      await put('flux-sops', { 'age.agekey': age('SECOND') });
      await stage.untilReady();
      await untilInShoot('flux-sops', 'age.agekey', age('SECOND'));
    });

    it('include the credentials of a GitHub App, which are complete before a source uses them', async () => {
      await put('flux-source', { githubAppID: '1', githubAppPrivateKey: 'marked' });
      const url = { repositoryUrl: 'https://github.com/org/fleet', repositoryType: 'private' };
      await stage.setFluxConfig({ ...url, repositoryProvider: 'github' });
      await stage.reconcileShoot();
      await eventually(
        'the wait',
        stage.extension,
        ({ status }) =>
          status?.lastOperation?.description.includes(
            'flux-source in the garden: githubAppInstallationID is missing',
          ) === true,
      );
      expect(await stage.managedResources()).toEqual({});
      const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
        type: 'pkcs1',
        format: 'pem',
      });
      await put('flux-source', { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey: pem.toString() });
      await stage.untilReady();
      const source = await stage.shoot.find(gitRepositories, inFlux('main-gitrepo'));
      expect(source?.spec).toMatchObject({ provider: 'github', secretRef: { name: 'flux-source' } });
      expect(await inShoot('flux-source')).toMatchObject({ data: { githubAppInstallationID: base64('2') } });
    });

    it('count without a flux-config only where the configuration names them', async () => {
      await put('flux-sops', { 'age.agekey': age('FIRST') });
      await putRegistry('first');
      const template = { spec: { path: './', decryption: { provider: 'sops', secretRef: { name: 'flux-sops' } } } };
      await stage.reconcileShoot({
        providerConfig: {
          ...{ apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig' },
          source: { template: { kind: 'GitRepository', spec: { url: URL, ref: { branch: 'main' } } } },
          kustomization: { template },
        },
      });
      await stage.untilReady();
      expect(await inShoot('flux-sops')).toMatchObject({ data: { 'age.agekey': base64(age('FIRST')) } });
      expect(await inShoot('flux-registry')).toBeUndefined();
    });
  });
}
