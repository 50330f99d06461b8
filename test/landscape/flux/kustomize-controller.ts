import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, errorMessage, type KubeClient, type KubeObject, type ObjectName } from '../client/client.ts';
import type { Controller } from '../controllers/controller.ts';
import type { Discovery } from '../controllers/discovery.ts';
import { milliseconds } from '../controllers/time.ts';
import type { Artifact } from './artifact-server.ts';
import { type AttemptContext, startFluxController } from './flux-controller.ts';
import { createApplier, type Entry, fieldManager, group, type Kustomization } from './kustomize-apply.ts';
import { buildFolder } from './kustomize-build.ts';
import { FluxFailure, type FluxSubject, fluxSubject, progressing } from './status.ts';

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
    const objects = await build(found, artifact);
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

async function build({ spec }: Kustomization, artifact: Artifact): Promise<KubeObject[]> {
  const folder = await mkdtemp(join(tmpdir(), 'kustomization-'));
  try {
    await unpack(await download(artifact), folder);
    return buildFolder(folder, spec.path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function download({ url, digest }: Artifact): Promise<Buffer> {
  const failed = (why: string) => new FluxFailure('ArtifactFailed', `failed to download artifact from ${url}: ${why}`);
  const response = await fetch(url).catch((error: unknown) => {
    throw failed(errorMessage(error));
  });
  if (!response.ok) throw failed(`status: ${response.status}`);
  const content = Buffer.from(await response.arrayBuffer());
  const computed = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  if (computed !== digest) throw failed(`computed digest doesn't match '${digest}'`);
  return content;
}

function unpack(archive: Buffer, folder: string): Promise<void> {
  const child = spawn('tar', ['-xzf', '-', '-C', folder], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.on('error', () => {}).end(archive);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error('the artifact is no tar.gz'))));
  });
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
