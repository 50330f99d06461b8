import { join } from 'node:path';
import { startRegistry } from '../install/registry.ts';
import { buildTools } from '../tools/build.ts';
import { folderWith, runProgram } from '../tools/cache.ts';
import { isSignedIn, startTlsFront } from './tls-front.ts';

/** Starts a registry behind HTTPS that wants a name and a password. */
export async function startPrivateRegistry() {
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
    /** Pushes these files as an artifact, such as `flux push artifact` makes one. */
    async pushArtifact(image: string, files: Record<string, string>) {
      await using folder = await folderWith(files);
      await using target = await folderWith({});
      const archive = join(target.path, 'artifact.tgz');
      await runProgram('tar', ['--create', '--gzip', '--file', archive, '--directory', folder.path, '.']);
      const tag = `${registry.host}/${image}`;
      await runProgram(crane, ['--insecure', 'append', '--oci-empty-base', '-f', archive, '-t', tag]);
    },
    /** Packages these files as a chart, and pushes it to `folder/NAME:VERSION`. */
    async pushChart(place: string, files: Record<string, string>) {
      await using folder = await folderWith(files);
      await using target = await folderWith({});
      const said = await runProgram(helm, ['package', folder.path, '--destination', target.path]);
      const archive = said.trim().split(': ').at(-1) ?? '';
      await runProgram(helm, ['push', archive, `oci://${registry.host}/${place}`, '--plain-http']);
    },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}
