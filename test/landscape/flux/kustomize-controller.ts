import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { type Connection, errorMessage, type KubeClient, type KubeObject, type ObjectName } from '../client/client.ts';
import type { Discovery } from '../controllers/discovery.ts';
import { type Controller, milliseconds } from '../controllers/work-queue.ts';
import { inInstallOrder } from '../resource-manager/apply.ts';
import { type AttemptContext, startFluxController } from './flux-controller.ts';
import type { Artifact } from './source-controller.ts';
import { FluxFailure, type FluxObject, type FluxSubject, fluxSubject, progressing } from './status.ts';

/**
 * Stands in for kustomize-controller: applies plain YAML, with the conditions, suspension and finalizer of the real one, but
 * without pruning, substitution, dependencies, health checks, decryption, patches and impersonation.
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
  if (found.metadata.deletionTimestamp !== undefined) {
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
    for (const { object } of inInstallOrder(objectsIn(fileURLToPath(artifact.url), spec.path))) {
      await apply(client, discovery, object, found);
    }
    await succeed(subject, artifact.revision);
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

async function succeed(subject: FluxSubject<Kustomization>, revision: string): Promise<void> {
  const message = `Applied revision: ${revision}`;
  await subject.setStatus(
    { Ready: { status: 'True', reason: 'ReconciliationSucceeded', message } },
    {
      lastAppliedRevision: revision,
      lastAttemptedRevision: revision,
      observedGeneration: subject.current().metadata.generation,
    },
  );
}

interface Kustomization extends FluxObject {
  spec: FluxObject['spec'] & {
    sourceRef: { kind: string; name: string; namespace?: string };
    path?: string;
    targetNamespace?: string;
  };
  status?: NonNullable<FluxObject['status']> & {
    lastAppliedRevision?: string;
    lastAttemptedRevision?: string;
  };
}

const group = 'kustomize.toolkit.fluxcd.io';
const fieldManager = 'kustomize-controller';

async function apply(client: KubeClient, discovery: Discovery, object: KubeObject, { metadata, spec }: Kustomization) {
  const { apiVersion, kind } = object;
  const resource = await discovery.find(apiVersion, kind);
  if (resource === undefined) throw new Error(`no matches for kind "${kind}" in version "${apiVersion}"`);
  const placed = place(object, resource.namespaced, spec.targetNamespace);
  const owner = { [`${group}/name`]: metadata.name, [`${group}/namespace`]: metadata.namespace ?? '' };
  const labels = { ...placed.metadata.labels, ...owner };
  await client.apply(resource, { ...placed, metadata: { ...placed.metadata, labels } }, { fieldManager });
}

function place(object: KubeObject, namespaced: boolean, targetNamespace: string | undefined): KubeObject {
  if (targetNamespace !== undefined && namespaced) return inNamespace(object, targetNamespace);
  if (!namespaced) {
    const { namespace: _, ...metadata } = object.metadata;
    // A Namespace in the source is renamed (docs/flux-facts.md, Kustomizations).
    const renamed = object.kind === 'Namespace' && targetNamespace !== undefined ? { name: targetNamespace } : {};
    return { ...object, metadata: { ...metadata, ...renamed } };
  }
  if (object.metadata.namespace !== undefined) return object;
  throw new Error(`${object.kind}/${object.metadata.name} namespace not specified`);
}

/** Returns the objects of a folder: all its YAML. It does not understand `kustomization.yaml`. */
function objectsIn(root: string, path = './'): { object: KubeObject }[] {
  const folder = join(root, path);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.ya?ml$/.test(file));
  if (files.some((file) => /kustomization\.ya?ml$/.test(file))) throw new Error('the stand-in reads plain YAML only');
  return files
    .flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), 'utf8')))
    .map((document) => ({ object: document.toJS() }))
    .filter(({ object }) => object !== null);
}

/** Returns the object in the namespace, also for cluster-scoped kinds, for which `apply` removes it again. */
function inNamespace(object: KubeObject, namespace: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}
