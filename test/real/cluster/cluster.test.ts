import {
  ApiException,
  CoreV1Api,
  CustomObjectsApi,
  type KubernetesObject,
  KubernetesObjectApi,
  PatchStrategy,
  RbacAuthorizationV1Api,
  VersionApi,
} from '@kubernetes/client-node';
import { testData, testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, startApiServer } from './api-server.ts';
import { kubeConfigOf } from './client.ts';
import { gardenCrds, installCrds, seedCrds } from './crds.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { startKustomizeController } from './kustomize-controller.ts';

const reader = { token: 'reader-token', user: 'reader', uid: 'reader', groups: ['readers'] };

describe('real kube-apiservers', () => {
  let etcd: Etcd;
  let garden: ApiServer;
  let seed: ApiServer;

  beforeAll(async () => {
    etcd = await startEtcd();
    [garden, seed] = await Promise.all([
      startApiServer({ etcd, prefix: 'garden', tokens: [reader], auditLog: true }),
      startApiServer({ etcd, prefix: 'seed' }),
    ]);
    await installCrds(garden, gardenCrds);
  });

  afterAll(async () => {
    await Promise.all([garden?.stop(), seed?.stop()]);
    await etcd?.stop();
  });

  it('report their version', async () => {
    const { gitVersion } = await kubeConfigOf(garden).makeApiClient(VersionApi).getCode();
    expect(gitVersion).toMatch(/^v1\.\d+\.\d+$/);
  });

  it('serve Shoots with arbitrary fields, and track field ownership', async () => {
    const objects = KubernetesObjectApi.makeApiClient(kubeConfigOf(garden));
    const shoot = {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'Shoot',
      metadata: { name: 'one', namespace: 'default' },
      spec: { seedName: 'seed', kubernetes: { version: '1.36.3' } },
      status: { technicalID: 'shoot--project--one' },
    };
    const applied: KubernetesObject = await objects.patch(
      shoot,
      undefined,
      undefined,
      'a',
      false,
      PatchStrategy.ServerSideApply,
    );
    expect(applied).toMatchObject({ spec: shoot.spec, status: shoot.status });
    expect(applied.metadata?.managedFields).toMatchObject([{ manager: 'a', operation: 'Apply' }]);

    const other = { ...shoot, spec: { seedName: 'other' }, status: undefined };
    const refused = objects.patch(other, undefined, undefined, 'b', false, PatchStrategy.ServerSideApply);
    await expect(refused).rejects.toMatchObject({ code: 409 });
  });

  it("share an etcd without seeing each other's objects", async () => {
    await kubeConfigOf(garden)
      .makeApiClient(CoreV1Api)
      .createNamespace({ body: { metadata: { name: 'garden-one' } } });
    const missing = kubeConfigOf(seed).makeApiClient(CoreV1Api).readNamespace({ name: 'garden-one' });
    await expect(missing).rejects.toMatchObject({ code: 404 });
  });

  it('let a token do exactly what RBAC objects grant', async () => {
    const api = kubeConfigOf(garden, reader.token).makeApiClient(CoreV1Api);
    const read = () => api.listNamespacedConfigMap({ namespace: 'default' });
    const code = (attempt: Promise<unknown>) =>
      attempt.then(
        () => 200,
        (error: unknown) => (error instanceof ApiException ? error.code : String(error)),
      );
    expect(await code(read())).toBe(403);

    const rbac = kubeConfigOf(garden).makeApiClient(RbacAuthorizationV1Api);
    const metadata = { name: 'read-configmaps' };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name };
    const subjects = [{ apiGroup: roleRef.apiGroup, kind: 'Group', name: 'readers' }];
    await rbac.createNamespacedRole({ namespace: 'default', body: { metadata, rules } });
    await rbac.createNamespacedRoleBinding({ namespace: 'default', body: { metadata, roleRef, subjects } });

    await expect.poll(() => code(read())).toBe(200);
    expect(await code(api.listNamespacedConfigMap({ namespace: 'kube-system' }))).toBe(403);
    expect(await code(api.listNamespacedSecret({ namespace: 'default' }))).toBe(403);
  });

  it('count the requests of each user', async () => {
    await kubeConfigOf(garden, reader.token).makeApiClient(VersionApi).getCode();
    const entries = (await garden.auditEntries()).filter(({ user }) => user === reader.user);
    expect(entries.at(-1)).toMatchObject({ verb: 'get', requestUri: '/version', code: 200 });
    expect(entries[0]).toMatchObject({ verb: 'list', resource: 'configmaps', namespace: 'default', code: 403 });
  });

  it('serve the CRDs of a seed exactly as in their files', async (test) => {
    const files = seedCrds();
    if (files === undefined) return test.skip(testDataMissing);
    await installCrds(seed, files);
    const extensions = kubeConfigOf(seed).makeApiClient(CustomObjectsApi);
    const group = {
      group: 'extensions.gardener.cloud',
      version: 'v1alpha1',
      namespace: 'default',
      plural: 'extensions',
    };
    const extension = (providerConfig: unknown) => ({
      apiVersion: 'extensions.gardener.cloud/v1alpha1',
      kind: 'Extension',
      metadata: { name: 'shoot-flux' },
      spec: { type: 'shoot-flux', providerConfig },
    });
    const providerConfig = { kind: 'FluxConfig', source: { template: { any: 'thing' } } };
    const created = await extensions.createNamespacedCustomObject({ ...group, body: extension(providerConfig) });
    expect(created).toMatchObject({ spec: { providerConfig } });
    const refused = extensions.createNamespacedCustomObject({ ...group, body: extension('no object') });
    await expect(refused).rejects.toMatchObject({ code: 422 });
    return undefined;
  });

  it('can be used by a kustomize-controller', async (test) => {
    const files = ['source-controller.yaml', 'kustomize-controller.yaml'].map((file) =>
      testData('flux', 'v2.9.4', file),
    );
    if (!files.every((file) => file !== undefined)) return test.skip(testDataMissing);
    await installCrds(seed, files);
    await using controller = await startKustomizeController({ kubeconfigFile: await seed.kubeconfigFile() });
    const flux = kubeConfigOf(seed).makeApiClient(CustomObjectsApi);
    const group = {
      group: 'kustomize.toolkit.fluxcd.io',
      version: 'v1',
      namespace: 'default',
      plural: 'kustomizations',
    };
    const body = {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: 'one' },
      spec: { interval: '1m', prune: false, sourceRef: { kind: 'GitRepository', name: 'missing' } },
    };
    await flux.createNamespacedCustomObject({ ...group, body });
    const reason = async () => {
      const { status } = await flux.getNamespacedCustomObject({ ...group, name: 'one' });
      return status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')?.reason;
    };
    await expect.poll(reason).toBe('ArtifactFailed');
    expect(await controller.output()).toContain('"controller":"kustomization"');
    return undefined;
  });
});
