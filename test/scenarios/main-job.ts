// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from './around-each-test.ts';
import { type Apis, CONTROL_PLANE, creating, eventually, PROJECT, SEED, type Stage } from './stage.ts';

const publicRepository = {
  repositoryUrl: 'https://git.example.com/fleet',
  repositoryBranch: 'main',
  repositoryType: 'public',
};
const all = ['shoot-flux-controllers', 'shoot-flux-crds', 'shoot-flux-secrets', 'shoot-flux-sync'];
const inFlux = (name: string) => ({ namespace: 'flux-system', name });

/** The main job, on embedded or real API servers. */
export function mainJobSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const names = async () => Object.keys(await stage.managedResources()).sort();
    const untilManagedResources = (expected: string[]) =>
      eventually('the ManagedResources', names, (live) => live.join() === expected.join());
    const kustomization = (spec: object) => ({
      template: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', ...spec },
    });
    const syncReady = () => stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
    const untilBootstrapped = () =>
      eventually(
        'the first success',
        stage.extension,
        ({ status }) => status?.state?.bootstrapped !== undefined,
        ({ status }) => status,
      );

    /** Leads a Shoot to where Flux, source and Kustomization belong to the user. */
    const released = async () => {
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Once' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await syncReady();
      await untilManagedResources(['shoot-flux-secrets']);
    };

    it('brings Flux and the repository into a new Shoot', async () => {
      await stage.setFluxConfig(publicRepository);
      await stage.reconcileShoot({ status: { lastOperation: creating } });
      const extension = await stage.untilReady();

      expect(extension.metadata.finalizers).toEqual(['extensions.gardener.cloud/shoot-flux']);
      expect(extension.status?.lastOperation).toMatchObject({ type: 'Create', progress: 100 });
      expect(await names()).toEqual(all);
      expect((await stage.shoot.find(gitRepositories, inFlux('main-gitrepo')))?.spec).toMatchObject({
        url: 'https://git.example.com/fleet',
        interval: '30s',
        ref: { branch: 'main' },
      });
      expect((await stage.shoot.find(kustomizations, inFlux('main-ks')))?.spec).toMatchObject({
        interval: '5m',
        path: './',
        prune: true,
        targetNamespace: 'default',
        sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' },
      });
      expect(await stage.shoot.find(resources.deployments, inFlux('source-controller'))).toBeDefined();
      expect((await stage.shoot.find(resources.configMaps, inFlux('shoot-info')))?.data).toMatchObject({
        SHOOT_INFO_NAME: 'bar',
        SHOOT_INFO_TECHNICAL_ID: CONTROL_PLANE,
        SHOOT_INFO_GARDEN_CLUSTER_IDENTITY: 'garden',
      });
    });

    it('shows the members of the project what is wrong with the Shoot, until the extension leaves it', async () => {
      await stage.setFluxConfig({ ...publicRepository, repositoryType: 'wrong' });
      await stage.reconcileShoot();
      const lines = async () =>
        (
          await stage.garden.find<KubeObject & { data?: Record<string, string> }>(resources.configMaps, {
            namespace: PROJECT,
            name: 'flux-status',
          })
        )?.data ?? {};
      const { bar, Summary } = await eventually('the line of the Shoot', lines, (live) => live.bar !== undefined);
      expect(bar).toMatch(/^Not Ready since [0-9T:-]+Z: ConfigMap garden-foo\/flux-config: repositoryType /);
      expect(Summary).toBe('0 Ready, 0 progressing, 1 not Ready of 1 Shoot');
      const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
      const about = items.filter(({ involvedObject }) => (involvedObject as { kind: string }).kind === 'Shoot');
      expect(about.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
        expect.stringContaining('FluxNotReady: Flux is not Ready: ConfigMap garden-foo/flux-config: repositoryType '),
      ]);
      const name = { namespace: PROJECT, name: 'flux-status' };
      await stage.garden.delete(resources.configMaps, name);
      await eventually('the line in a new ConfigMap', lines, (live) => live.bar === bar && live.Summary === Summary);
      const damage = { data: { bar: 'Ready', Summary: 'all is well', note: 'ours' } };
      await stage.garden.mergePatch(resources.configMaps, name, damage, { fieldManager: 'kubectl-edit' });
      await eventually('the corrected line', lines, (live) => live.bar === bar && live.Summary === Summary);
      expect((await lines()).note).toBe('ours');
      await stage.deleteExtension();
      await eventually('the end of the line', lines, (live) => live.bar === undefined);
    });

    it('changes nothing in a second reconciliation except what Gardener requires', async () => {
      await stage.setFluxConfig(publicRepository);
      await stage.reconcileShoot();
      await stage.untilReady();
      await quiet(stage);
      stage.requests.length = 0;
      await stage.reconcileShoot();
      await stage.untilReady();
      await quiet(stage);

      const writes = stage.requests.filter(({ method }) => method !== 'GET');
      expect(writes.map(({ identity, method, resource }) => `${identity} ${method} ${resource}`)).toEqual([
        'managed-resources PATCH extensions.extensions.gardener.cloud',
        'managed-resources PATCH extensions.extensions.gardener.cloud',
      ]);
    });

    it('mode Once: releases Flux after the first success; only Secrets and shoot-info follow', async () => {
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Once' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await syncReady();
      expect((await untilBootstrapped()).status?.state?.bootstrapped).toMatchObject({
        fluxVersion: expect.stringMatching(/^v2/),
      });
      await untilManagedResources(['shoot-flux-secrets']);

      expect(await stage.shoot.find(kustomizations, inFlux('main-ks'))).toBeDefined();
      expect(await stage.shoot.find(resources.deployments, inFlux('source-controller'))).toBeDefined();
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Once', repositoryBranch: 'other' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await quiet(stage);
      expect((await stage.shoot.find(gitRepositories, inFlux('main-gitrepo')))?.spec).toMatchObject({
        ref: { branch: 'main' },
      });
      expect(await names()).toEqual(['shoot-flux-secrets']);
      const secrets = await stage.seed.list(resources.secrets, {
        namespace: CONTROL_PLANE,
        labelSelector: 'origin=shoot-flux',
      });
      expect(secrets.items).toHaveLength(1);
    });

    it('mode ManifestsOnly: releases the controllers; sources follow', async () => {
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'ManifestsOnly' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await syncReady();
      await untilManagedResources(['shoot-flux-secrets', 'shoot-flux-sync']);
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'ManifestsOnly', repositoryBranch: 'other' });
      await untilBranch('other');
    });

    it('without a mode: sources follow flux-config, and the controllers are released', async () => {
      await stage.setFluxConfig(publicRepository);
      await stage.reconcileShoot();
      await stage.untilReady();
      await syncReady();
      await untilManagedResources(['shoot-flux-secrets', 'shoot-flux-sync']);
      await stage.setFluxConfig({ ...publicRepository, repositoryBranch: 'other' });
      await untilBranch('other');
    });

    it('without a mode: sources that Once has released follow again if they are unchanged in the shoot', async () => {
      await released();
      await stage.setFluxConfig(publicRepository);
      await untilManagedResources(['shoot-flux-secrets', 'shoot-flux-sync']);
      await stage.setFluxConfig({ ...publicRepository, repositoryBranch: 'other' });
      await untilBranch('other');
    });

    it('without a mode: sources that were changed after Once had released them stay as they are, until a mode is set', async () => {
      await released();
      const path = './of-the-user';
      const asUser = { fieldManager: 'user' };
      await stage.shoot.mergePatch(kustomizations, inFlux('main-ks'), { spec: { path } }, asUser);
      await stage.setFluxConfig(publicRepository);
      const { status } = await eventually(
        'the problem',
        stage.extension,
        (one) => one.status?.state?.applied?.problem !== undefined,
      );
      expect(status?.state?.applied).toMatchObject({
        syncMode: 'Once',
        problem: expect.stringContaining('differ from the configuration'),
      });
      await quiet(stage);
      expect(await names()).toEqual(['shoot-flux-secrets']);
      expect((await stage.shoot.find(kustomizations, inFlux('main-ks')))?.spec).toMatchObject({ path });
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'ManifestsOnly' });
      await untilManagedResources(['shoot-flux-secrets', 'shoot-flux-sync']);
      await eventually(
        'the path of the configuration',
        () => stage.shoot.find(kustomizations, inFlux('main-ks')),
        (live) => (live?.spec as { path?: string } | undefined)?.path === './',
      );
    });

    it('follows the labels of the Shoot where the configuration depends on them', async () => {
      const label = (value: string) =>
        stage.seed.mergePatch(
          resources.clusters,
          { name: CONTROL_PLANE },
          { spec: { shoot: { metadata: { labels: { stage: value } } } } },
          { fieldManager: 'gardenlet' },
        );
      const overrides = [
        {
          selector: { matchLabels: { stage: 'dev' } },
          config: { kustomization: { patch: { spec: { path: './dev/${SHOOT_NAME}' } } } },
        },
        { selector: { matchLabels: { stage: 'typo' } }, config: { syncMode: 'Never' } },
      ];
      await stage.setFluxConfig({
        ...publicRepository,
        repositoryPath: './${SHOOT_NAME}',
        'overrides.yaml': JSON.stringify(overrides),
      });
      await stage.reconcileShoot();
      await stage.untilReady();
      const untilPath = (path: string) =>
        eventually(
          `the path ${path}`,
          () => stage.shoot.find(kustomizations, inFlux('main-ks')),
          (live) => (live?.spec as { path?: string } | undefined)?.path === path,
        );
      await untilPath('./bar');
      await label('dev');
      await untilPath('./dev/bar');
      await label('typo');
      const { status } = await eventually('the error', stage.extension, (one) => one.status?.lastError != null);
      expect(status?.lastError?.description).toContain('overrides.yaml[1].config.syncMode');
      await label('prod');
      await untilPath('./bar');
    });

    it('mode Reconcile: manages everything, releases it on a switch to Once, and adopts it on a switch back', async () => {
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Reconcile' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await syncReady();
      await untilBootstrapped();
      await quiet(stage);
      expect(await names()).toEqual(all);
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Once' });
      await untilManagedResources(['shoot-flux-secrets']);
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Reconcile', repositoryBranch: 'other' });
      await untilManagedResources(all);
      await untilBranch('other');
    });

    it('follows the config in every mode until the first success, so that a typo can be corrected', async () => {
      await stage.setFluxConfig({ ...publicRepository, repositoryBranch: 'typo' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await untilBranch('typo');
      await stage.setFluxConfig(publicRepository);
      await untilBranch('main');
    });

    it('reports an invalid config in one sentence with a retryable code, and recovers once it is corrected', async () => {
      await stage.setFluxConfig({ ...publicRepository, repositoryBranchh: 'main' });
      await stage.reconcileShoot();
      const failed = await eventually('the error', stage.extension, ({ status }) => status?.lastError != null);
      expect(failed.status?.lastError).toMatchObject({
        description: expect.stringContaining('repositoryBranch'),
        codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
      });
      // The error is reported first, so that no earlier success passes for this operation's.
      await eventually(
        'the annotation is gone',
        stage.extension,
        ({ metadata }) => metadata.annotations?.['gardener.cloud/operation'] === undefined,
      );
      const events = await eventually(
        'the Event',
        () => stage.garden.list(resources.events, { namespace: PROJECT }),
        ({ items }) => items.length > 0,
      );
      expect(JSON.stringify(events.items)).toContain('repositoryBranchh');
      await stage.setFluxConfig(publicRepository);
      await stage.untilReady();
    });

    it('warns when the garden knows the seed under another name, because changes would arrive late', async () => {
      const warnings = () => stage.logLines.filter((line) => line.includes('the garden calls it other'));
      const called = (name: string) =>
        stage.seed.mergePatch(
          resources.clusters,
          { name: CONTROL_PLANE },
          { spec: { seed: { metadata: { name } } } },
          { fieldManager: 'gardenlet' },
        );
      await stage.writeCluster();
      await called(SEED);
      await stage.reconcileShoot();
      await stage.untilReady();
      expect(warnings()).toEqual([]);
      await called('other');
      await stage.seed.mergePatch(
        resources.extensions,
        { namespace: CONTROL_PLANE, name: 'shoot-flux' },
        { metadata: { annotations: { 'gardener.cloud/operation': 'reconcile' } } },
        { fieldManager: 'gardenlet' },
      );
      await eventually(
        'the warning',
        async () => warnings(),
        (lines) => lines.length > 0,
      );
    });

    it('logs the progress of a Shoot under its key', async () => {
      await stage.setFluxConfig({ ...publicRepository, repositoryBranchh: 'main' });
      await stage.reconcileShoot({ status: { lastOperation: creating } });
      await eventually('the error', stage.extension, ({ status }) => status?.lastError != null);
      await stage.setFluxConfig(publicRepository);
      await stage.untilReady();
      await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
      await untilBootstrapped();

      const key = `${SEED}/${CONTROL_PLANE}/shoot-flux`;
      const lines = stage.logLines.map((line): Record<string, unknown> => JSON.parse(line));
      const said = lines.filter((line) => line.key === key && line.message !== 'reconcile finished');
      const expectLogged = (fields: object) => expect(said).toContainEqual(expect.objectContaining(fields));
      const operation = { message: 'operation reported', type: 'Create' };
      expectLogged({
        ...operation,
        level: 'warn',
        state: 'Error',
        error: expect.stringContaining('repositoryBranchh'),
      });
      expectLogged({
        ...operation,
        level: 'info',
        state: 'Succeeded',
        description: expect.stringContaining('are applied'),
      });
      expectLogged({
        message: 'condition changed',
        level: 'info',
        type: 'SourceReady',
        status: 'True',
        reason: 'Ready',
      });
      expectLogged({ message: 'first success recorded' });
    });

    it('creates a key for a private repository and delivers it to the shoot', async () => {
      await stage.setFluxConfig({
        repositoryUrl: 'ssh://git@github.com/org/fleet',
        repositoryBranch: 'main',
        repositoryType: 'private',
      });
      await stage.reconcileShoot();
      await stage.untilReady();
      const source = { namespace: PROJECT, name: 'flux-source' };
      const inGarden = await stage.garden.find(resources.secrets, source);
      const inShoot = await stage.shoot.find(resources.secrets, inFlux('flux-source'));
      expect(Object.keys(inShoot?.data as object).sort()).toEqual(['identity', 'identity.pub', 'known_hosts']);
      expect(inShoot?.data).toEqual(inGarden?.data);

      await stage.garden.mergePatch(
        resources.secrets,
        source,
        { data: { password: Buffer.from('changed').toString('base64') } },
        { fieldManager: 'person' },
      );
      await eventually(
        'the rotated Secret',
        () => stage.shoot.find(resources.secrets, inFlux('flux-source')),
        (secret) => (secret?.data as Record<string, string>)?.password !== undefined,
      );
    });

    it('waits for credentials that only a member has, and says where it is written which', async () => {
      await stage.setFluxConfig({ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'private' });
      await stage.reconcileShoot();
      const wanted =
        'Secret garden-foo/flux-source in the garden does not exist yet; see the Events of ConfigMap garden-foo/flux-config.';
      await eventually(
        'the wait',
        stage.extension,
        ({ status }) => status?.lastOperation?.description === wanted,
        ({ status }) => status,
      );
      const { items } = await stage.garden.list(resources.events, { namespace: PROJECT });
      expect(items.map(({ reason }) => reason)).toContain('CredentialsMissing');
      const data = { username: 'cmVhZGVy', password: 'aHVudGVyMg==' };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: PROJECT, name: 'flux-source' }, data };
      await stage.garden.create(resources.secrets, secret as KubeObject, { fieldManager: 'person' });
      await stage.untilReady();
      expect((await stage.shoot.find(resources.secrets, inFlux('flux-source')))?.data).toEqual(data);
    });

    it('rotates the key in two phases: the prepared key stays in the garden until completion', async () => {
      const source = { namespace: PROJECT, name: 'flux-source' };
      const fluxConfig = { namespace: PROJECT, name: 'flux-config' };
      const person = { fieldManager: 'person' };
      const dataOf = (object: KubeObject | undefined) => (object?.data ?? {}) as Record<string, string>;
      const inShoot = async () => dataOf(await stage.shoot.find(resources.secrets, inFlux('flux-source')));
      const untilRotated = async (phase: 'start' | 'complete') => {
        const annotations = { 'gardener.cloud/operation': `rotate-ssh-keypair-${phase}` };
        await stage.garden.mergePatch(resources.configMaps, fluxConfig, { metadata: { annotations } }, person);
        await eventually(
          'the operation has ended',
          () => stage.garden.find(resources.configMaps, fluxConfig),
          (live) => live?.metadata.annotations?.['gardener.cloud/operation'] === undefined,
        );
        return dataOf(await stage.garden.find(resources.secrets, source));
      };
      // Other keys that a project keeps in the Secret are copied too, as in the first implementation.
      const own = { 'webhook-token': Buffer.from('own').toString('base64') };
      const secret = { apiVersion: 'v1', kind: 'Secret', metadata: source, data: own };
      await stage.garden.create(resources.secrets, secret as KubeObject, person);
      await stage.setFluxConfig({
        repositoryUrl: 'ssh://git@github.com/org/fleet',
        repositoryBranch: 'main',
        repositoryType: 'private',
      });
      await stage.reconcileShoot();
      await stage.untilReady();
      const first = await inShoot();
      expect(first).toMatchObject({ ...own, identity: expect.any(String) });
      await quiet(stage);
      const before = (await stage.managedResources())['shoot-flux-secrets']?.metadata.resourceVersion;

      const { 'identity.next': identity, 'identity.next.pub': publicKey, ...rest } = await untilRotated('start');
      expect(rest).toEqual(first);
      await quiet(stage);
      expect((await stage.managedResources())['shoot-flux-secrets']?.metadata.resourceVersion).toBe(before);
      expect(await inShoot()).toEqual(first);

      const rotated = { ...first, identity, 'identity.pub': publicKey };
      expect(await untilRotated('complete')).toEqual(rotated);
      await eventually('the new key', inShoot, (data) => data.identity === identity);
      expect(await inShoot()).toEqual(rotated);
      await stage.untilReady();
    });

    it('waits for the host keys of an unknown host, and adds them to the Secret once they are configured', async () => {
      const repository = {
        repositoryUrl: 'ssh://git@git.example.com/org/fleet',
        repositoryBranch: 'main',
        repositoryType: 'private',
      };
      await stage.setFluxConfig(repository);
      await stage.reconcileShoot();
      await eventually(
        'the wait',
        stage.extension,
        ({ status }) => status?.lastOperation?.description.includes('knownHosts') === true,
        ({ status }) => status,
      );
      const known = `git.example.com ${hostKey}`;
      await stage.setFluxConfig({ ...repository, knownHosts: known });
      await stage.untilReady();
      const inShoot = await stage.shoot.find(resources.secrets, inFlux('flux-source'));
      expect(inShoot?.data).toMatchObject({ known_hosts: Buffer.from(`${known}\n`).toString('base64') });
    });

    it('uses the internal kubeconfig where the control plane has no other', async () => {
      const external = { namespace: CONTROL_PLANE, name: 'gardener' };
      const secret = await stage.seed.find(resources.secrets, external);
      const metadata = { namespace: CONTROL_PLANE, name: 'gardener-internal' };
      const internal = { apiVersion: 'v1', kind: 'Secret', metadata, data: secret?.data };
      await stage.seed.create(resources.secrets, internal, { fieldManager: 'gardener' });
      await stage.seed.delete(resources.secrets, external);
      await stage.setFluxConfig(publicRepository);
      await stage.reconcileShoot();
      await stage.untilReady();
      await syncReady();
      await untilBootstrapped();
    });

    it('copies Secrets with their type, and ConfigMaps, and waits for a copy that lags', async () => {
      const references = [
        { name: 'creds', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'registry' } },
        { name: 'vars', resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'variables' } },
      ];
      const providerConfig = {
        apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
        kind: 'FluxConfig',
        additionalSecretResources: [{ name: 'creds', targetName: 'pull' }, { name: 'vars' }],
      };
      await stage.reconcileShoot({ spec: { resources: references }, providerConfig });
      await eventually(
        'the wait',
        stage.extension,
        ({ status }) => status?.lastOperation?.description.includes('registry') === true,
      );
      const data = { '.dockerconfigjson': Buffer.from('{}').toString('base64') };
      const copy = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: CONTROL_PLANE, name: 'ref-registry' },
        type: 'kubernetes.io/dockerconfigjson',
        data,
      };
      await stage.seed.create(resources.secrets, copy, { fieldManager: 'gardener' });
      const variables = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: CONTROL_PLANE, name: 'ref-variables' },
        data: { region: 'here' },
      };
      await stage.seed.create(resources.configMaps, variables, { fieldManager: 'gardener' });
      const extension = await stage.untilReady();
      expect(await stage.shoot.find(resources.secrets, inFlux('pull'))).toMatchObject({
        type: 'kubernetes.io/dockerconfigjson',
        data,
      });
      expect(extension.status?.resources).toEqual([
        { name: 'creds', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'ref-registry' } },
        { name: 'vars', resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'ref-variables' } },
      ]);
      expect(await stage.shoot.find(resources.configMaps, inFlux('variables'))).toMatchObject({
        data: { region: 'here' },
      });
    });

    it('suspends a removed Kustomization before dropping it', async () => {
      const providerConfig = (kustomizationName: string) => ({
        apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
        kind: 'FluxConfig',
        syncMode: 'Reconcile',
        source: {
          template: {
            apiVersion: 'source.toolkit.fluxcd.io/v1',
            kind: 'GitRepository',
            spec: { url: 'https://git.example.com/a', ref: { branch: 'main' } },
          },
        },
        kustomization: kustomization({ metadata: { name: kustomizationName }, spec: { path: './', prune: true } }),
      });
      await stage.reconcileShoot({ providerConfig: providerConfig('old') });
      await stage.untilReady();
      const seen = watchSuspend(stage, 'old');
      await stage.reconcileShoot({ providerConfig: providerConfig('new') });
      await eventually(
        'the old one is gone',
        () => stage.shoot.find(kustomizations, inFlux('old')),
        (live) => live === undefined,
      );
      await stage.untilReady();
      expect(await seen.stop()).toBe(true);
      expect(await stage.shoot.find(kustomizations, inFlux('new'))).toBeDefined();
    });

    it('reports a ConfigMap that is deleted after the first success, and changes nothing', async () => {
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Reconcile' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await syncReady();
      await untilBootstrapped();
      await stage.setFluxConfig(undefined);
      const extension = await eventually(
        'the report',
        stage.extension,
        ({ status }) => status?.conditions?.some(({ type }) => type === 'ConfigurationFollowed') === true,
        ({ status }) => status,
      );
      expect(extension.status?.lastError ?? null).toBeNull();
      await quiet(stage);
      expect(await names()).toEqual(all);
      expect(await stage.shoot.find(kustomizations, inFlux('main-ks'))).toBeDefined();
    });

    it("takes a Shoot over from stackitcloud's extension and counts its condition as the first success", async () => {
      await stage.stopProduct();
      const fluxNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } };
      await stage.shoot.create(resources.namespaces, fluxNamespace, { fieldManager: 'former' });
      await stage.setFluxConfig(publicRepository);
      await stage.reconcileShoot();
      await stage.seed.mergePatch(
        resources.extensions,
        { namespace: CONTROL_PLANE, name: 'shoot-flux' },
        { status: { conditions: [formerCondition] } },
        { fieldManager: 'former', subresource: 'status' },
      );
      await stage.startProduct();
      await stage.untilReady();
      const { status } = await untilBootstrapped();
      expect(status?.state?.bootstrapped?.at).toBe(formerCondition.lastTransitionTime);
      expect(status?.conditions).toContainEqual(formerCondition);
      expect(await names()).toEqual(['shoot-flux-secrets']);
    });

    it("releases the ManagedResources of 23technologies' extension before writing its own", async () => {
      await stage.stopProduct();
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: CONTROL_PLANE, name: 'former' },
        data: { 'a.yaml': Buffer.from(JSON.stringify(formerObject)).toString('base64') },
      };
      await stage.seed.create(resources.secrets, secret, { fieldManager: 'former' });
      for (const name of ['extension-shoot-flux-flux-config', 'extension-shoot-flux-flux-install']) {
        const former = {
          apiVersion: 'resources.gardener.cloud/v1alpha1',
          kind: 'ManagedResource',
          metadata: { namespace: CONTROL_PLANE, name },
          spec: { secretRefs: [{ name: 'former' }] },
        };
        await stage.seed.create(resources.managedResources, former, { fieldManager: 'former' });
      }
      await eventually(
        'the former object',
        () => stage.shoot.find(resources.configMaps, { namespace: 'kube-system', name: 'former' }),
        (found) => found !== undefined,
      );
      await stage.setFluxConfig(publicRepository);
      await stage.reconcileShoot();
      await stage.startProduct();
      await stage.untilReady();
      expect(await names()).toEqual(all);
      expect(await stage.shoot.find(resources.configMaps, { namespace: 'kube-system', name: 'former' })).toBeDefined();
    });

    const untilExtensionIsGone = () =>
      eventually(
        'the Extension is gone',
        () => stage.seed.find(resources.extensions, { namespace: CONTROL_PLANE, name: 'shoot-flux' }),
        (found) => found === undefined,
      );
    const expectReleased = async () => {
      expect(await names()).toEqual([]);
      const options = { namespace: CONTROL_PLANE, labelSelector: 'origin=shoot-flux' };
      expect((await stage.seed.list(resources.secrets, options)).items).toEqual([]);
      const deployment = await stage.shoot.find(resources.deployments, inFlux('source-controller'));
      const root = await stage.shoot.find(kustomizations, inFlux('main-ks'));
      expect([deployment, root].map((live) => live?.metadata.deletionTimestamp ?? live?.kind)).toEqual([
        'Deployment',
        'Kustomization',
      ]);
    };

    it('suspends and releases Flux in a Shoot that is being deleted, before gardenlet cleans up', async () => {
      await stage.setFluxConfig({ ...publicRepository, syncMode: 'Reconcile' });
      await stage.reconcileShoot();
      await stage.untilReady();
      await stage.reconcileShoot({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } });
      await untilManagedResources([]);
      await eventually(
        'the Kustomization is suspended',
        () => stage.shoot.find(kustomizations, inFlux('main-ks')),
        (live) => (live?.spec as { suspend?: boolean } | undefined)?.suspend === true,
      );
      await stage.deleteExtension();
      await untilExtensionIsGone();
      await expectReleased();
    });

    const untilBranch = (branch: string) =>
      eventually(
        `branch ${branch}`,
        () => stage.shoot.find(gitRepositories, inFlux('main-gitrepo')),
        (live) => (live?.spec as { ref?: { branch?: string } } | undefined)?.ref?.branch === branch,
      );
  });
}

const formerCondition = {
  type: 'FluxBootstrapped',
  status: 'True',
  reason: 'BootstrapSuccessful',
  message: 'done',
  lastTransitionTime: '2026-01-02T03:04:05Z',
  lastUpdateTime: '2026-01-02T03:04:05Z',
};

const formerObject: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'kube-system', name: 'former' },
  data: {},
};

const hostKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiI';

/** Waits until the product has made no request for a while (its watches aside). */
export async function quiet(stage: Stage): Promise<void> {
  let before = -1;
  await eventually(
    'the product is quiet',
    async () => {
      const count = stage.requests.length;
      await new Promise((resolve) => setTimeout(resolve, 600));
      const isQuiet = count === before && stage.requests.length === count;
      before = stage.requests.length;
      return isQuiet;
    },
    (isQuiet) => isQuiet,
  );
}

/** Watches a Kustomization in the shoot and records whether it was ever suspended. */
function watchSuspend(stage: Stage, name: string): { stop(): Promise<boolean> } {
  const ending = new AbortController();
  let suspended = false;
  const watching = (async () => {
    const { resourceVersion } = await stage.shoot.list(kustomizations, { namespace: 'flux-system' });
    const options = { namespace: 'flux-system', resourceVersion, timeoutSeconds: 60, signal: ending.signal };
    for await (const { object } of stage.shoot.watch(kustomizations, options)) {
      const isSuspended = (object.spec as { suspend?: boolean } | undefined)?.suspend === true;
      if (object.metadata.name === name && isSuspended) suspended = true;
    }
  })().catch(() => undefined);
  return {
    async stop() {
      ending.abort();
      await watching;
      return suspended;
    },
  };
}
