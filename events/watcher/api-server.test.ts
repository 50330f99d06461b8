import { type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { expect, test } from 'vitest';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { apiVersionOf, type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { extension, onExtensions, onManagedResources, until, watching } from './testing.ts';

const { extensions, managedResources } = resources;

/** A CRD that lets everything pass, with a status subresource. */
function crd({ group, version, plural, kind, namespaced }: Resource) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
    },
  };
}

/** An API server that behaves like a seed's, with the namespace of one control plane. */
async function startSeed() {
  const api = await startKubeApi({ objects: [crd(extensions), crd(managedResources)] });
  api.objects.ensureNamespace('a');
  const client = createKubeClient({ server: api.url, ca: api.ca, token: api.token });
  return {
    api,
    client,
    async [Symbol.asyncDispose]() {
      client.close();
      await api.stop();
    },
  };
}

const object = (resource: Resource, fields: Partial<KubeObject> & Pick<KubeObject, 'metadata'>) => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  ...fields,
});
const shootFlux = (fields: object = {}, metadata: object = {}) =>
  object(extensions, extension('a', { spec: { type: 'shoot-flux' }, ...fields }, metadata));
const watched = (api: KubeApi, count: number) => until(() => expect(api.watches()).toHaveLength(count));

test('sends changes only for what matters in the life of a Shoot', async () => {
  await using seed = await startSeed();
  const { objects } = seed.api;
  await using watcher = watching(seed, [onExtensions(), onManagedResources('readiness')]);
  await watched(seed.api, 2);
  const becomes = async (change: () => unknown, ...expected: string[]) => {
    watcher.sent.length = 0;
    change();
    await until(() => expect(watcher.short()).toEqual(expected));
  };
  const because = (why: string) => `managed-resources a/shoot-flux because ${why}`;

  await becomes(() => objects.create(shootFlux()), because('Extension shoot-flux'));
  await becomes(() => {
    objects.patchStatus(shootFlux(), { lastOperation: { state: 'Processing' } });
    objects.patch(shootFlux(), { spec: { providerConfig: {} } });
  }, because('Extension shoot-flux'));
  const labels = { origin: 'shoot-flux' };
  const mr = object(managedResources, { metadata: { namespace: 'a', name: 'shoot-flux-crds', labels }, spec: {} });
  await becomes(() => objects.create(mr), 'readiness a/shoot-flux because ManagedResource shoot-flux-crds');
  await becomes(
    () => objects.patch(mr, { metadata: { labels: { origin: 'user' } } }),
    'readiness a/shoot-flux because ManagedResource shoot-flux-crds deleted',
  );
  await becomes(() => {
    objects.patch(shootFlux(), { metadata: { finalizers: ['example.com/hold'] } });
    objects.delete(shootFlux());
  }, because('Extension shoot-flux'));
  await becomes(
    () => objects.patch(shootFlux(), { metadata: { finalizers: [] } }),
    because('Extension shoot-flux deleted'),
  );
  expect(watcher.sent[0]?.cause).toMatchObject({ uid: expect.stringMatching(/-/), deleted: true });
});
