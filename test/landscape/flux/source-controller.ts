import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Connection, type KubeClient, type ObjectName, resources } from '../client/client.ts';
import { type Controller, milliseconds, seconds } from '../controllers/work-queue.ts';
import { type AttemptContext, startFluxController } from './flux-controller.ts';
import { createGitClient, type GitAuth, type GitRef } from './git-fetch.ts';
import { FluxFailure, type FluxObject, type FluxSubject, fluxSubject, progressing } from './status.ts';

interface GitRepository extends FluxObject {
  spec: FluxObject['spec'] & { url: string; ref?: GitRef; secretRef?: { name: string } };
  status?: NonNullable<FluxObject['status']> & { artifact?: Artifact };
}

/**
 * Starts the landscape's source-controller, for GitRepositories: it clones with git. An artifact is a folder that the
 * landscape's kustomize-controller reads; as with an emptyDir, it is lost on stop.
 */
export async function startSourceController(connection: Connection): Promise<Controller> {
  const root = await mkdtemp(join(tmpdir(), 'source-controller-'));
  const controller = await startFluxController(connection, {
    group: 'source.toolkit.fluxcd.io',
    kind: 'GitRepository',
    userAgent: 'source-controller',
    reconcile: (name, context) => reconcile(name, context, join(root, name.namespace ?? '', name.name)),
  });
  return {
    async stop() {
      await controller.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

const fieldManager = 'gotk-source-controller';

/** @param folder of this source */
async function reconcile(
  name: ObjectName,
  { client, resource }: AttemptContext,
  folder: string,
): Promise<number | undefined> {
  const found = await client.find<GitRepository>(resource, name);
  if (found === undefined) return undefined;
  const subject = fluxSubject(client, resource, found, fieldManager);
  // Suspension does not delay the deletion of a source (docs/flux-facts.md, Suspension and deletion).
  if (found.metadata.deletionTimestamp !== undefined) {
    await rm(folder, { recursive: true, force: true });
    await subject.removeFinalizer();
    return undefined;
  }
  if (found.spec.suspend === true) return undefined;
  await subject.addFinalizer();
  await subject.setStatus(progressing(found, 'building artifact'));
  try {
    const artifact = await fetchArtifact(client, subject.current(), folder);
    await succeed(subject, artifact);
    return milliseconds(found.spec.interval ?? '1m');
  } catch (error) {
    if (!(error instanceof FluxFailure)) throw error;
    const { reason, message } = error;
    await subject.setStatus({
      Reconciling: { status: 'True', reason: 'ProgressingWithRetry', message: 'retrying' },
      Ready: { status: 'False', reason, message },
    });
    throw error;
  }
}

async function fetchArtifact(
  client: KubeClient,
  { metadata, spec, status }: GitRepository,
  folder: string,
): Promise<Artifact> {
  const git = createGitClient(folder);
  const auth = await authOf(client, spec, metadata.namespace);
  const { commit, revision } = await git.fetch(spec.url, spec.ref ?? {}, auth);
  const files = join(folder, commit);
  const known = status?.artifact;
  if (known?.revision === revision && existsSync(files)) return known;
  await git.checkOut(commit, files);
  const path = `gitrepository/${metadata.namespace}/${metadata.name}/${commit}`;
  const url = pathToFileURL(files).href;
  return { digest: `sha1:${commit}`, lastUpdateTime: seconds(Date.now()), path, revision, url };
}

async function authOf(
  client: KubeClient,
  { url, secretRef }: GitRepository['spec'],
  namespace: string | undefined,
): Promise<GitAuth> {
  if (secretRef === undefined || !url.startsWith('ssh://')) return { type: 'none' };
  const secret = await client.find(resources.secrets, { namespace, name: secretRef.name });
  if (secret === undefined) throw new FluxFailure('AuthenticationFailed', `secrets "${secretRef.name}" not found`);
  const value = (key: string) =>
    Buffer.from((secret.data as Record<string, string> | undefined)?.[key] ?? '', 'base64').toString();
  return { type: 'ssh', identity: value('identity'), knownHosts: value('known_hosts') };
}

async function succeed(subject: FluxSubject<GitRepository>, artifact: Artifact): Promise<void> {
  const message = `stored artifact for revision '${artifact.revision}'`;
  const { generation } = subject.current().metadata;
  await subject.setStatus(
    { Ready: { status: 'True', reason: 'Succeeded', message } },
    { artifact, observedGeneration: generation },
  );
}

/** `status.artifact` of a source. */
export interface Artifact {
  digest: string;
  lastUpdateTime: string;
  path: string;
  revision: string;
  /** Of a folder. */
  url: string;
}
