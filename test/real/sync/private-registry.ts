import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startRegistry } from '../install/registry.ts';
import { buildTools } from '../tools/build.ts';
import { isSignedIn, startTlsFront, type TlsFront } from './tls-front.ts';

const run = promisify(execFile);

/** A registry behind HTTPS that wants a name and a password. */
export interface PrivateRegistry extends TlsFront {
  /** The content of a Secret of type `kubernetes.io/dockerconfigjson`. */
  dockerConfig: string;
  password: string;
  /** Pushes these files as an artifact, such as `flux push artifact` makes one. */
  pushArtifact(image: string, files: Record<string, string>): Promise<void>;
  /** Packages these files as a chart, and pushes it to `folder/NAME:VERSION`. */
  pushChart(folder: string, files: Record<string, string>): Promise<void>;
}

export async function startPrivateRegistry(): Promise<PrivateRegistry> {
  const [username, password] = ['robot', 'swordfish-of-the-registry'];
  const { crane, helm } = await buildTools(['crane', 'helm']);
  const registry = await startRegistry();
  const front = await startTlsFront((incoming) =>
    isSignedIn(incoming, username, password) ? `http://${registry.host}` : { status: 401 },
  );
  return {
    host: front.host,
    ca: front.ca,
    password,
    dockerConfig: JSON.stringify({ auths: { [front.host]: { username, password } } }),
    pushArtifact: (image, files) =>
      inFolder(files, async (folder) => {
        const archive = `${folder}.tgz`;
        await run('tar', ['--create', '--gzip', '--file', archive, '--directory', folder, '.']);
        await run(crane, [
          '--insecure',
          'append',
          '--oci-empty-base',
          '-f',
          archive,
          '-t',
          `${registry.host}/${image}`,
        ]);
        await rm(archive);
      }),
    pushChart: (place, files) =>
      inFolder(files, async (folder) => {
        const target = `${folder}-chart`;
        const { stdout } = await run(helm, ['package', folder, '--destination', target]);
        const archive = stdout.trim().split(': ').at(-1) ?? '';
        await run(helm, ['push', archive, `oci://${registry.host}/${place}`, '--plain-http']);
        await rm(target, { recursive: true });
      }),
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}

async function inFolder(files: Record<string, string>, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'registry-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
