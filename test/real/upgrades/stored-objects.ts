import { setTimeout as sleep } from 'node:timers/promises';
import { vi } from 'vitest';
import { isCrd } from '../../../shared/flux/custom-resources.ts';
import { openDistribution } from '../../../shared/flux/distribution.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { entriesAt, textAt } from '../../../shared/shapes.ts';
import type { Etcd } from '../cluster/etcd.ts';

/** An API server whose storage can be read. */
export interface Store {
  etcd: Etcd;
  /** Of its keys in etcd. */
  prefix: string;
  client: KubeClient;
}

/** The CRDs of a release in a distribution. */
export async function crdsOf(folder: string, version: string): Promise<KubeObject[]> {
  const { files } = await openDistribution(folder).release(version);
  return [...files.values()].flat().filter(isCrd);
}

/** The version in which a CRD stores objects. */
export function storageOf({ spec }: KubeObject): string | undefined {
  return textAt(
    entriesAt(spec, 'versions').find(({ storage }) => storage === true),
    'name',
  );
}

/** Creates one object for each version that a CRD serves, and stored in that version. */
export async function fill({ etcd, prefix, client }: Store, crd: KubeObject): Promise<void> {
  const storage = storageOf(crd);
  for (const version of [...servedVersions(crd).filter((one) => one !== storage), storage ?? '']) {
    await client.mergePatch(resources.customResourceDefinitions, crd.metadata, storing(crd, version), {
      fieldManager: 'upgrade',
    });
    const { resource, object } = objectOf(crd, version);
    const key = `${resource.group}/${resource.plural}/default/${object.metadata.name}`;
    // A changed CRD is in use a moment later.
    for (let stored: string | undefined; stored !== version; stored = await storedVersion(etcd, prefix, key)) {
      await client.delete(resource, object.metadata, { reason: 'the test' }).catch(() => false);
      await client.apply(resource, object, { fieldManager: 'person' }).catch(() => sleep(50));
    }
  }
}

/** All objects of the kinds of these CRDs, by kind and name, in the version that each stores. A newer one has more defaults. */
export async function everything(client: KubeClient, crds: KubeObject[]): Promise<Record<string, object>> {
  const lists = await Promise.all(
    crds.map(async (crd) => {
      const { resource } = objectOf(crd, storageOf(crd) ?? '');
      const { items } = await vi.waitFor(() => client.list(resource, { namespace: 'default' }), {
        timeout: 240_000,
        interval: 50,
      });
      return items.map(
        ({ kind, metadata: { name, uid }, spec }) => [`${resource.kind} ${name}`, { kind, uid, spec }] as const,
      );
    }),
  );
  return Object.fromEntries(lists.flat());
}

/** Returns what does not fit these CRDs: objects in etcd, stored versions and marks of a migration. */
export async function notCurrent({ etcd, prefix, client }: Store, crds: KubeObject[]): Promise<string[]> {
  const stored = Object.entries(await storedInEtcd(etcd, prefix));
  const found = await Promise.all(
    crds.map(async ({ metadata, spec }) => {
      const live = await client.find(resources.customResourceDefinitions, metadata);
      const names = entriesAt(spec, 'versions').flatMap((version) => textAt(version, 'name') ?? []);
      const [plural = '', ...group] = metadata.name.split('.');
      const inEtcd = stored.filter(([key]) => key.startsWith(`${group.join('.')}/${plural}/`));
      const inStatus = (live?.status as { storedVersions?: string[] } | undefined)?.storedVersions ?? ['none'];
      const marks = Object.keys(live?.metadata.annotations ?? {}).filter((name) =>
        /migrated-up-to|widened-at/.test(name),
      );
      return [
        ...inEtcd.filter(([, version]) => !names.includes(version)).map(([key, version]) => `${key} is in ${version}`),
        ...inStatus
          .filter((version) => !names.includes(version))
          .map((version) => `${metadata.name} may have ${version}`),
        ...marks.map((mark) => `${metadata.name} has ${mark}`),
      ];
    }),
  );
  return found.flat();
}

/** Reads in which version each custom resource of Flux is stored, by its key, below the prefix of an API server. */
export async function storedInEtcd(etcd: Etcd, prefix: string): Promise<Record<string, string>> {
  const found = (await read(etcd, `/${prefix}/`, `/${prefix}0`)).flatMap(({ key, apiVersion }) => {
    const path = key.slice(prefix.length + 2);
    return /^[a-z.]+\.fluxcd\.io\//.test(path) ? [[path, versionIn(apiVersion())] as const] : [];
  });
  return Object.fromEntries(found);
}

/** Reads in which version one custom resource is stored: all of them together are many megabytes, with the CRDs. */
async function storedVersion(etcd: Etcd, prefix: string, path: string): Promise<string | undefined> {
  const [found] = await read(etcd, `/${prefix}/${path}`);
  return found && versionIn(found.apiVersion());
}

/** Reads a key of etcd, or the keys up to another one. A value is decoded when it is asked for. */
async function read(etcd: Etcd, from: string, to?: string): Promise<{ key: string; apiVersion: () => string }[]> {
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const range = { key: encoded(from), ...(to !== undefined && { range_end: encoded(to) }) };
  const response = await fetch(`${etcd.url}/v3/kv/range`, { method: 'POST', body: JSON.stringify(range) });
  const { kvs = [] } = (await response.json()) as { kvs?: { key: string; value: string }[] };
  const decoded = (text: string) => Buffer.from(text, 'base64').toString();
  return kvs.map(({ key, value }) => ({
    key: decoded(key),
    apiVersion: () => (JSON.parse(decoded(value)) as { apiVersion: string }).apiVersion,
  }));
}

function versionIn(apiVersion: string): string {
  return apiVersion.split('/')[1] ?? '';
}

const source = { kind: 'GitRepository', name: 'fleet' };

/** A spec of each kind that all versions of it, and all releases, accept. */
export const validSpecs: Readonly<Record<string, Record<string, unknown>>> = {
  GitRepository: { interval: '1m', url: 'https://git.example/a' },
  HelmRepository: { interval: '1m', url: 'https://charts.example' },
  HelmChart: { interval: '1m', chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'charts' } },
  Bucket: { interval: '1m', bucketName: 'fleet', endpoint: 's3.example' },
  OCIRepository: { interval: '1m', url: 'oci://registry.example/a' },
  ExternalArtifact: {},
  ArtifactGenerator: {
    sources: [{ alias: 'fleet', ...source }],
    artifacts: [{ name: 'all', copy: [{ from: '@fleet/**', to: '@artifact/' }] }],
  },
  Kustomization: { interval: '1m', prune: false, sourceRef: source },
  HelmRelease: {
    interval: '1m',
    chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'charts' } } },
  },
  Receiver: { type: 'generic', secretRef: { name: 'token' }, resources: [source] },
  Alert: { providerRef: { name: 'chat' }, eventSources: [source] },
  Provider: { type: 'generic', address: 'https://hook.example' },
  ImageRepository: { interval: '1m', image: 'ghcr.io/stefanprodan/podinfo' },
  ImagePolicy: { imageRepositoryRef: { name: 'podinfo' }, policy: { semver: { range: '>=1.0.0' } } },
  ImageUpdateAutomation: {
    interval: '1m',
    sourceRef: source,
    git: { commit: { author: { email: 'bot@example.com' } }, push: { branch: 'main' } },
  },
};

/** Returns an object of the kind of a CRD, in one version. */
export function objectOf(crd: KubeObject, version: string): { resource: Resource; object: KubeObject } {
  const [group = '', kind = '', plural = ''] = [
    textAt(crd.spec, 'group'),
    textAt(crd.spec, 'names', 'kind'),
    textAt(crd.spec, 'names', 'plural'),
  ];
  const spec = validSpecs[kind];
  if (spec === undefined) throw new Error(`add a spec of ${kind}`);
  const resource = { group, version, plural, kind, namespaced: true };
  const metadata = { namespace: 'default', name: `stored-${version}`, labels: { team: 'a' } };
  return { resource, object: { apiVersion: `${group}/${version}`, kind, metadata, spec } };
}

/** The names of the versions that a CRD serves. */
export function servedVersions(crd: KubeObject): string[] {
  return entriesAt(crd.spec, 'versions')
    .filter(({ served }) => served === true)
    .flatMap((version) => textAt(version, 'name') ?? []);
}

/** The spec of a CRD that stores another version. */
export function storing(crd: KubeObject, version: string): Record<string, unknown> {
  const versions = entriesAt(crd.spec, 'versions').map((one) => ({ ...one, storage: one.name === version }));
  return { spec: { versions } };
}
