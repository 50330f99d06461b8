import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standIn } from '../../shared/flux/testing.ts';
import { cli } from './cli.ts';
import type { Variables } from './option.ts';

export { kubeconfigOf } from '../../shared/kube/testing.ts';

/** The result of a command line. */
export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs a command line in this process. */
export async function shootFlux(args: string[], stdin = '', environment: Variables = {}): Promise<Ran> {
  const ran: Ran = { code: -1, out: '', err: '' };
  const code = await cli(args, {
    out: (text) => {
      ran.out += text;
    },
    err: (text) => {
      ran.err += text;
    },
    stdin: async () => stdin,
    environment,
  });
  return { ...ran, code };
}

/** Writes files to a temporary folder, deleted when the test ends. Values other than strings are written as JSON. */
export async function files<Name extends string>(contents: Record<Name, unknown>) {
  const dir = await mkdtemp(join(tmpdir(), 'cli-'));
  const paths = {} as Record<Name, string>;
  for (const name of Object.keys(contents) as Name[]) {
    const content = contents[name];
    paths[name] = join(dir, name);
    await writeFile(paths[name], typeof content === 'string' ? content : JSON.stringify(content));
  }
  return { dir, paths, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

/**
 * Runs a command with the small distribution, and with files: each content by the name of its option, by which the output
 * then names the file.
 */
export async function runWith(command: string, inputs: Record<string, unknown>, ...more: string[]): Promise<Ran> {
  await using written = await files(inputs);
  const options = Object.entries(written.paths).flatMap(([option, path]) => [`--${option}`, path]);
  const { code, out, err } = await shootFlux([command, '--flux-distribution', standIn.folder, ...options, ...more]);
  const plain = (text: string) => text.replaceAll(`${written.dir}/`, '');
  return { code, out: plain(out), err: plain(err) };
}

/** The ConfigMap `flux-config` of the project `foo`. */
export const fluxConfigOf = (data: Record<string, unknown>, namespace = 'garden-foo') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'flux-config', namespace },
  data: { repositoryUrl: 'https://git.example/foo/fleet.git', repositoryBranch: 'main', ...data },
});

/** A Shoot of this project. */
export const shootOf = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'core.gardener.cloud/v1beta1',
  kind: 'Shoot',
  metadata: { name: 'bar', namespace: 'garden-foo', ...metadata },
  spec: { kubernetes: { version: '1.34.1' }, ...spec },
});
