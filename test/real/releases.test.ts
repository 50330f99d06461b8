import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import type { ConfigInputs } from '../../shared/config/types.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { ObjectGroups, Release, SecretContent } from '../../shared/flux/release.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { objectGroups } from '../../shared/gardener/groups.ts';
import { contentSecret, unpackContent } from '../../shared/gardener/managed-resource-content.ts';
import { shootFacts } from '../../shared/gardener/shoot-facts.ts';
import type { Cluster } from '../../shared/gardener/types.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigConnection } from '../../shared/kube/kubeconfig.ts';
import type { KubeObject, Resource } from '../../shared/kube/resource.ts';
import { testDistribution } from '../made-distribution.ts';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { type Etcd, startEtcd } from './cluster/etcd.ts';

const sources: Record<string, unknown> = {
  GitRepository: { url: 'ssh://git@git.example/foo/fleet.git', ref: { branch: 'main' }, timeout: '60s' },
  OCIRepository: { url: 'oci://registry.example/foo/fleet', ref: { tag: 'latest' } },
  Bucket: { endpoint: 's3.example', bucketName: 'fleet', region: 'eu-1' },
};

const cluster: Cluster = {
  apiVersion: 'extensions.gardener.cloud/v1alpha1',
  kind: 'Cluster',
  metadata: { name: 'shoot--foo--bar' },
  spec: { shoot: { metadata: { name: 'bar', namespace: 'garden-foo' }, spec: { region: 'eu-1' } } },
};

const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);
const versions = folder === undefined ? [] : await openDistribution(folder).versions();
const releases = [
  [standIn.version, standIn.folder] as const,
  ...versions.map((version) => [version, folder ?? ''] as const),
];

describe('releases on a real API server', () => {
  let etcd: Etcd;

  beforeAll(async () => {
    etcd = await startEtcd();
  });

  afterAll(async () => {
    await etcd?.stop();
  });

  describe.each(releases)('Flux %s', (version, distribution) => {
    let server: ApiServer;
    let client: HttpKubeClient;
    let release: Release;

    beforeAll(async () => {
      // A separate server, because CRDs of another release may lack a stored version and be refused.
      server = await startApiServer({ etcd, prefix: version });
      client = createKubeClient(await kubeconfigConnection(server.kubeconfig(), 'the server'));
      release = await openDistribution(distribution).release(version);
    });

    afterAll(async () => {
      client?.close();
      await server?.stop();
    });

    function apply(object: KubeObject): Promise<KubeObject> {
      return client.apply(resourceOf(object), object, { fieldManager: 'releases' });
    }

    async function accepted(group: KubeObject[]): Promise<void> {
      for (const object of group) {
        // A kind is served a moment after its CRD was created.
        const live = await vi.waitFor(() => apply(object), { timeout: 60_000, interval: 100 });
        expect(live.metadata).toMatchObject(object.metadata);
      }
    }

    test('accepts every component', async () => {
      const components = componentsOf(release);
      const { crds, controllers } = await delivered(release, { providerConfig: { flux: { components } } });
      await accepted(crds);
      await accepted(controllers);
      expect(controllers.filter(({ kind }) => kind === 'Deployment')).toHaveLength(components.length);
    });

    test.each(Object.keys(sources))('accepts a %s with its Kustomization unchanged', async (kind) => {
      const namespace = `sources-${kind.toLowerCase()}`;
      const template = { kind, metadata: { name: 'fleet', namespace }, spec: sources[kind] };
      const providerConfig = {
        source: { template, secretResourceName: 'creds' },
        kustomization: { template: { spec: { path: './clusters/bar', prune: true, wait: true } } },
      };
      const shootResources = [{ name: 'creds', apiVersion: 'v1', kind: 'Secret', resourceName: 'creds' }];
      const data = { '.dockerconfigjson': Buffer.from('{"auths":{}}').toString('base64') };
      const secret = { name: 'flux-system', namespace, type: 'kubernetes.io/dockerconfigjson', data };
      const { secrets, sync } = await delivered(release, { providerConfig, shootResources }, [secret]);
      await accepted(secrets);
      await accepted(sync);
      for (const object of sync) expect(await apply(object)).toMatchObject({ ...object });
      expect(sync.map((object) => object.kind)).toEqual([kind, 'Kustomization']);
    });

    test('changes nothing when applied again', async () => {
      const { crds, controllers } = await delivered(release, {});
      for (const object of [...crds, ...controllers]) {
        const before = await apply(object);
        expect((await apply(object)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
      }
    });
  });
});

/** All kinds of a release have a regular plural. */
function resourceOf({ apiVersion, kind, metadata }: KubeObject): Resource {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
  return { group, version, plural, kind, namespaced: metadata.namespace !== undefined };
}

/** Reads the objects back from the Secrets of the ManagedResources. */
async function delivered(release: Release, inputs: ConfigInputs, secrets: SecretContent[] = []): Promise<ObjectGroups> {
  const config = effectiveConfig(inputs);
  const shoot = shootFacts(cluster, {});
  const groups = await objectGroups({
    config,
    release,
    shoot,
    secrets,
    configMaps: [],
    ownsNamespace: true,
    shootHealth: false,
  });
  const unpacked = Object.entries(groups).map(async ([name, objects]) => {
    const { data } = await contentSecret('shoot--foo--bar', name, objects);
    return [name, unpackContent(data as Record<string, string>)] as const;
  });
  return { ...groups, ...Object.fromEntries(await Promise.all(unpacked)) };
}
