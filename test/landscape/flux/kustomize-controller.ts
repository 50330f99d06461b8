import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { type Connection, errorMessage, type KubeClient, type KubeObject, type ObjectName } from '../client/client.ts';
import type { Discovery } from '../controllers/discovery.ts';
import { type Controller, milliseconds, objectText } from '../controllers/work-queue.ts';
import { inInstallOrder } from '../resource-manager/apply.ts';
import { groupOf } from '../resource-manager/references.ts';
import { type AttemptContext, startFluxController } from './flux-controller.ts';
import type { Artifact } from './source-controller.ts';
import { FluxFailure, type FluxObject, type FluxSubject, fluxSubject, progressing } from './status.ts';

/**
 * Stands in for kustomize-controller: applies plain YAML, with the conditions, inventory, pruning, suspension and
 * finalizer of the real one, but without substitution, dependencies, health checks, decryption, patches and impersonation.
 */
export async function startKustomizeController(connection: Connection): Promise<Controller> {
  const source = 'source.toolkit.fluxcd.io';
  return startFluxController(connection, {
    group,
    kind: 'Kustomization',
    userAgent: fieldManager,
    reconcile,
    also: {
      group: source,
      kind: 'GitRepository',
      *wakes({ metadata, status }, ours) {
        const revision = (status as { artifact?: Artifact } | undefined)?.artifact?.revision;
        for (const object of ours as Iterable<Kustomization>) {
          const { name, namespace = object.metadata.namespace } = object.spec.sourceRef;
          const isSource = name === metadata.name && namespace === metadata.namespace;
          if (isSource && revision !== object.status?.lastAppliedRevision) yield object;
        }
      },
    },
  });
}

async function reconcile(
  name: ObjectName,
  { client, discovery, resource }: AttemptContext,
): Promise<number | undefined> {
  const found = await client.find<Kustomization>(resource, name);
  if (found === undefined) return undefined;
  const subject = fluxSubject(client, resource, found, fieldManager);
  const cluster = createApplier(client, discovery);
  if (found.metadata.deletionTimestamp !== undefined) {
    // Suspension keeps the objects (docs/flux-facts.md, Suspension and deletion).
    const prunes = found.spec.suspend !== true && found.spec.prune === true;
    if (prunes) await cluster.prune(found.status?.inventory?.entries ?? [], found);
    await subject.removeFinalizer();
    return undefined;
  }
  if (found.spec.suspend === true) return undefined;
  await subject.addFinalizer();
  const { spec } = found;
  const retryMs = milliseconds(spec.retryInterval ?? spec.interval ?? '1m');
  try {
    const artifact = await artifactOf(client, discovery, found);
    const fresh = found.status?.lastAppliedRevision !== artifact.revision;
    if (fresh)
      await subject.setStatus(progressing(found, `Building manifests for revision ${artifact.revision}`), {
        lastAttemptedRevision: artifact.revision,
      });
    const objects = buildFolder(fileURLToPath(artifact.url), spec.path);
    const entries = await cluster.apply(objects, found);
    const old = found.status?.inventory?.entries ?? [];
    const left = old.filter(({ id }) => !entries.some((entry) => entry.id === id));
    if (spec.prune === true) await cluster.prune(left, found);
    await succeed(subject, artifact.revision, entries);
    return milliseconds(spec.interval ?? '1m');
  } catch (error) {
    const failure = error instanceof FluxFailure ? error : new FluxFailure('ReconciliationFailed', errorMessage(error));
    const { reason, message } = failure;
    await subject.setStatus({
      Reconciling: { status: 'True', reason: 'ProgressingWithRetry', message },
      Ready: { status: 'False', reason, message },
    });
    return failure.reason === 'ArtifactFailed' ? Math.min(retryMs, 30_000) : retryMs;
  }
}

async function artifactOf(
  client: KubeClient,
  discovery: Discovery,
  { metadata, spec }: Kustomization,
): Promise<Artifact> {
  const { kind, name, namespace = metadata.namespace } = spec.sourceRef;
  const resource = await discovery.preferred('source.toolkit.fluxcd.io', kind);
  const source = resource && (await client.find(resource, { namespace, name }));
  if (source === undefined) {
    throw new FluxFailure('ArtifactFailed', `${kind.toLowerCase()}s.source.toolkit.fluxcd.io "${name}" not found`);
  }
  const { artifact } = (source.status ?? {}) as { artifact?: Artifact };
  if (artifact === undefined) throw new FluxFailure('ArtifactFailed', 'Source artifact not found, retrying in 30s');
  return artifact;
}

async function succeed(subject: FluxSubject<Kustomization>, revision: string, entries: Entry[]): Promise<void> {
  const message = `Applied revision: ${revision}`;
  await subject.setStatus(
    { Ready: { status: 'True', reason: 'ReconciliationSucceeded', message } },
    {
      inventory: { entries },
      lastAppliedRevision: revision,
      lastAttemptedRevision: revision,
      observedGeneration: subject.current().metadata.generation,
    },
  );
}

/** An entry of the inventory. */
export interface Entry {
  /** `namespace_name_group_kind` */
  id: string;
  v: string;
}

export interface Kustomization extends FluxObject {
  spec: FluxObject['spec'] & {
    sourceRef: { kind: string; name: string; namespace?: string };
    path?: string;
    prune?: boolean;
    targetNamespace?: string;
  };
  status?: NonNullable<FluxObject['status']> & {
    inventory?: { entries: Entry[] };
    lastAppliedRevision?: string;
    lastAttemptedRevision?: string;
  };
}

export const group = 'kustomize.toolkit.fluxcd.io';
export const fieldManager = 'kustomize-controller';

/** Applies the objects of a Kustomization, and prunes those of its inventory. */
export function createApplier(client: KubeClient, discovery: Discovery) {
  const owner = ({ metadata }: Kustomization) => ({
    [`${group}/name`]: metadata.name,
    [`${group}/namespace`]: metadata.namespace ?? '',
  });
  return {
    async apply(objects: KubeObject[], kustomization: Kustomization) {
      const entries: Entry[] = [];
      for (const { object } of inInstallOrder(objects.map((object) => ({ object })))) {
        const resource = await discovery.find(object.apiVersion, object.kind);
        if (resource === undefined) {
          throw new FluxFailure(
            'ReconciliationFailed',
            `${object.kind}/${object.metadata.name} dry-run failed: no matches for kind "${object.kind}" in version "${object.apiVersion}"`,
          );
        }
        const { targetNamespace } = kustomization.spec;
        const placed = place(object, resource.namespaced, targetNamespace);
        const labels = { ...placed.metadata.labels, ...owner(kustomization) };
        const wanted = { ...placed, metadata: { ...placed.metadata, labels } };
        try {
          await client.apply(resource, wanted, { fieldManager });
        } catch (error) {
          throw new FluxFailure(
            'ReconciliationFailed',
            `${object.kind}/${objectText(wanted.metadata)} dry-run failed: ${errorMessage(error)}`,
          );
        }
        entries.push(entryOf(wanted));
      }
      return entries;
    },

    async prune(entries: readonly Entry[], kustomization: Kustomization): Promise<void> {
      for (const { id, v } of entries.toReversed()) {
        const [namespace = '', name = '', group = '', kind = ''] = id.split('_');
        const resource = await discovery.find(group === '' ? v : `${group}/${v}`, kind);
        const object = { name, ...(namespace === '' ? {} : { namespace }) };
        const live = resource && (await client.find(resource, object));
        if (resource === undefined || live === undefined || !mayPrune(live, owner(kustomization))) continue;
        await client.delete(resource, object, { propagationPolicy: 'Background' });
      }
    },
  };
}

function place(object: KubeObject, namespaced: boolean, targetNamespace: string | undefined): KubeObject {
  if (targetNamespace !== undefined && namespaced) return inNamespace(object, targetNamespace);
  if (!namespaced) {
    const { namespace: _, ...metadata } = object.metadata;
    // A Namespace in the source is renamed (docs/flux-facts.md, Kustomizations).
    const renamed = object.kind === 'Namespace' && targetNamespace !== undefined ? { name: targetNamespace } : {};
    return { ...object, metadata: { ...metadata, ...renamed } };
  }
  return object.metadata.namespace === undefined ? inNamespace(object, 'default') : object;
}

function mayPrune({ metadata }: KubeObject, owner: Record<string, string>): boolean {
  const marks = { ...metadata.labels, ...metadata.annotations };
  if (marks[`${group}/prune`] === 'disabled') return false;
  return Object.entries(owner).every(([key, value]) => metadata.labels?.[key] === value);
}

function entryOf({ apiVersion, kind, metadata }: KubeObject): Entry {
  const id = [metadata.namespace ?? '', metadata.name, groupOf(apiVersion), kind].join('_');
  return { id, v: apiVersion.split('/').at(-1) ?? '' };
}

/**
 * Returns the objects of a folder: all its YAML. It does not understand `kustomization.yaml`.
 * @throws FluxFailure ArtifactFailed or BuildFailed
 */
export function buildFolder(root: string, path = './'): KubeObject[] {
  const folder = join(root, path);
  if (!existsSync(folder)) {
    throw new FluxFailure(
      'ArtifactFailed',
      `kustomization path not found: stat ${join('/tmp/kustomization-1', path)}: no such file or directory`,
    );
  }
  try {
    return yamlFiles(folder).flatMap((file) => documents(root, file));
  } catch (error) {
    if (error instanceof FluxFailure) throw error;
    throw new FluxFailure('BuildFailed', `kustomize build failed: ${errorMessage(error).split('\n')[0]}`);
  }
}

function yamlFiles(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.ya?ml$/.test(file));
  if (files.some((file) => /kustomization\.ya?ml$/.test(file))) throw new Error('the stand-in reads plain YAML only');
  return files.sort().map((file) => join(folder, file));
}

function documents(root: string, file: string): KubeObject[] {
  const objects: KubeObject[] = [];
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    if (document.errors[0] !== undefined) throw new Error(`${relative(root, file)}: ${document.errors[0].message}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) continue;
    if (!isObject(value)) throw new Error(`${relative(root, file)}: not a Kubernetes object`);
    objects.push(value);
  }
  return objects;
}

function isObject(value: unknown): value is KubeObject {
  return typeof value === 'object' && value !== null && 'kind' in value && 'apiVersion' in value && 'metadata' in value;
}

/** Returns the object in the namespace, also for cluster-scoped kinds, for which `apply` removes it again. */
export function inNamespace(object: KubeObject, namespace: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}
