import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Connection, type KubeClient, type ObjectName, resources } from '../client/client.ts';
import { type Controller, milliseconds, objectText, seconds } from '../controllers/work-queue.ts';
import { type AttemptContext, startFluxController } from './flux-controller.ts';
import { createGitClient, type GitAuth, type GitClient, type GitRef } from './git-fetch.ts';
import {
  type FluxConditions,
  FluxFailure,
  type FluxObject,
  type FluxSubject,
  fluxSubject,
  progressing,
} from './status.ts';

interface GitRepository extends FluxObject {
  spec: FluxObject['spec'] & { url: string; ref?: GitRef; secretRef?: { name: string } };
  status?: NonNullable<FluxObject['status']> & { artifact?: Artifact };
}

/**
 * Starts the landscape's source-controller, for GitRepositories: it clones with git, and serves artifacts that the real
 * kustomize-controller accepts, too.
 */
export async function startSourceController(connection: Connection): Promise<Controller> {
  const folder = await mkdtemp(join(tmpdir(), 'source-controller-'));
  const storage = await startArtifactServer();
  const clients = new Map<string, GitClient>();
  let folders = 0;
  const clientFor = async (name: ObjectName) => {
    const key = objectText(name);
    const known = clients.get(key);
    if (known !== undefined) return known;
    const client = createGitClient(await mkdtemp(join(folder, `${folders++}-`)));
    clients.set(key, client);
    return client;
  };

  const controller = await startFluxController(connection, {
    group: 'source.toolkit.fluxcd.io',
    kind: 'GitRepository',
    userAgent: 'source-controller',
    reconcile: async (name, context) => reconcile(name, context, { storage, git: await clientFor(name) }),
  });
  return {
    async stop() {
      await controller.stop();
      await storage.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Tools {
  storage: Awaited<ReturnType<typeof startArtifactServer>>;
  git: GitClient;
}

const fieldManager = 'gotk-source-controller';

async function reconcile(
  name: ObjectName,
  { client, resource }: AttemptContext,
  tools: Tools,
): Promise<number | undefined> {
  const found = await client.find<GitRepository>(resource, name);
  if (found === undefined) return undefined;
  const subject = fluxSubject(client, resource, found, fieldManager);
  const path = `gitrepository/${found.metadata.namespace}/${found.metadata.name}/`;
  // Suspension does not delay the deletion of a source (docs/flux-facts.md, Suspension and deletion).
  if (found.metadata.deletionTimestamp !== undefined) {
    tools.storage.remove(path);
    await subject.removeFinalizer();
    return undefined;
  }
  if (found.spec.suspend === true) return undefined;
  await subject.addFinalizer();
  await subject.setStatus(progressing(found, 'building artifact'));
  try {
    const artifact = await fetchArtifact(client, subject.current(), path, tools);
    await succeed(subject, artifact);
    return milliseconds(found.spec.interval ?? '1m');
  } catch (error) {
    if (!(error instanceof FluxFailure)) throw error;
    await fail(subject, error);
    throw error;
  }
}

async function fetchArtifact(
  client: KubeClient,
  { spec, status }: GitRepository,
  path: string,
  { git, storage }: Tools,
): Promise<Artifact> {
  const auth = await authOf(client, spec, path);
  const { commit, revision } = await git.fetch(spec.url, spec.ref ?? {}, auth);
  const file = `${path}${commit}.tar.gz`;
  const known = status?.artifact;
  if (known?.revision === revision && storage.has(file)) return known;
  return storage.put(file, revision, await git.archive(commit));
}

async function authOf(client: KubeClient, { url, secretRef }: GitRepository['spec'], path: string): Promise<GitAuth> {
  if (secretRef === undefined || !url.startsWith('ssh://')) return { type: 'none' };
  const namespace = path.split('/')[1];
  const secret = await client.find(resources.secrets, { namespace, name: secretRef.name });
  if (secret === undefined) {
    const missing = `secrets "${secretRef.name}" not found`;
    throw new FluxFailure('AuthenticationFailed', `failed to get secret '${namespace}/${secretRef.name}': ${missing}`);
  }
  const value = (key: string) => {
    const text = Buffer.from((secret.data as Record<string, string> | undefined)?.[key] ?? '', 'base64').toString();
    if (text !== '') return text;
    const why = `failed to configure authentication options: invalid 'ssh' auth option: '${key}' is required`;
    throw new FluxFailure('AuthenticationFailed', why);
  };
  return { type: 'ssh', identity: value('identity'), knownHosts: value('known_hosts') };
}

async function succeed(subject: FluxSubject<GitRepository>, artifact: Artifact): Promise<void> {
  const message = `stored artifact for revision '${artifact.revision}'`;
  const { metadata } = subject.current();
  const stored = { status: 'True', reason: 'Succeeded', message } as const;
  await subject.setStatus(
    { Ready: stored, ArtifactInStorage: stored },
    { artifact, observedGeneration: metadata.generation },
  );
}

async function fail(subject: FluxSubject<GitRepository>, { reason, message }: FluxFailure) {
  const failed = { status: 'False', reason, message } as const;
  const { artifact } = subject.current().status ?? {};
  const inStorage = artifact && {
    status: 'True' as const,
    reason: 'Succeeded',
    message: `stored artifact for revision '${artifact.revision}'`,
  };
  const conditions: FluxConditions = {
    Reconciling: { status: 'True', reason: 'ProgressingWithRetry', message: 'retrying' },
    Ready: failed,
    FetchFailed: { ...failed, status: 'True' },
  };
  await subject.setStatus({ ...conditions, ...(inStorage && { ArtifactInStorage: inStorage }) });
}

/** `status.artifact` of a source. */
export interface Artifact {
  digest: string;
  lastUpdateTime: string;
  path: string;
  revision: string;
  size: number;
  url: string;
}

/** Serves artifacts over plain HTTP, as source-controller's storage does. They are lost on stop, as with its emptyDir. */
async function startArtifactServer() {
  const contents = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const content = contents.get((request.url ?? '').slice(1));
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': 'application/gzip' }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** @param path `gitrepository/<namespace>/<name>/<commit>.tar.gz` */
    put(path: string, revision: string, content: Buffer): Artifact {
      contents.set(path, content);
      const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      const lastUpdateTime = seconds(Date.now());
      return { digest, lastUpdateTime, path, revision, size: content.length, url: `http://127.0.0.1:${port}/${path}` };
    },
    has: (path: string) => contents.has(path),
    /** Removes all artifacts below a path. */
    remove(prefix: string) {
      for (const path of contents.keys()) if (path.startsWith(prefix)) contents.delete(path);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
