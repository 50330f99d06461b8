import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import semver from 'semver';
import { quote } from '../../shared/config/quote.ts';
import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { tarball } from '../gardener/registration/chart-archive.ts';
import { runProgram } from '../make-command.ts';
import { filesBelow } from '../release/checksums.ts';
import { inflate, lastLine, tarFiles } from './archive.ts';
import { exitCodes } from './command.ts';
import { usableReleases } from './distribution-inspect.ts';
import { missing, type Terminal, UsageError, type Variables } from './option.ts';
import { type Artifact, pullLayer } from './registry.ts';

const SCHEME = 'oci://';

const REFERENCE =
  /^oci:\/\/(?<host>[a-z0-9.-]+(?::\d+)?|\[[0-9a-f:]+\](?::\d+)?)\/(?<repository>[a-z0-9]+(?:[._/-]+[a-z0-9]+)*)@(?<digest>sha256:[0-9a-f]{64})$/;

/**
 * Returns the folder of a distribution. One in a registry is pulled, unless the cache has it: a folder whose name is the
 * digest is complete.
 * @throws UsageError for a reference without a digest, ShootFluxError when it cannot be pulled
 */
export async function distributionFolder(
  values: { 'flux-distribution'?: string | undefined; 'distribution-cache'?: string | undefined },
  environment: Variables,
): Promise<string> {
  const { 'flux-distribution': from = missing('--flux-distribution DIR'), 'distribution-cache': cache } = values;
  if (!from.startsWith(SCHEME)) return from;
  const artifact = REFERENCE.exec(from)?.groups as unknown as Artifact | undefined;
  if (artifact === undefined)
    throw new UsageError(`${from} is not of the form oci://REGISTRY/REPOSITORY@sha256:DIGEST`);
  if (cache === undefined) throw new UsageError('--flux-distribution oci://… requires --distribution-cache DIR');
  const folder = join(cache, artifact.digest.replace(':', '-'));
  if (!existsSync(folder)) await place(await unpacked(await pullLayer(artifact, environment), from), cache, folder);
  return folder;
}

type Files = { name: string; content: Buffer }[];

/** Files of releases, one folder deep; everything else has no place in a distribution. */
function isOfRelease(path: string): boolean {
  const [version = '', name = '', ...more] = path.split('/');
  return more.length === 0 && semver.valid(version) !== null && /^\w[\w.-]*$/.test(name);
}

async function unpacked(layer: Buffer, from: string): Promise<Files> {
  try {
    const files = await tarFiles(inflate(layer));
    const odd = files.find(({ name }) => !isOfRelease(name));
    if (odd !== undefined) throw new Error(`${quote(odd.name)} is no file of a Flux release`);
    return files;
  } catch (error) {
    throw new ShootFluxError(`cannot unpack ${from}: ${errorMessage(error)}; push the distribution again.`);
  }
}

/** Writes a folder completely or not at all. */
async function place(files: Files, cache: string, folder: string): Promise<void> {
  let draft: string | undefined;
  try {
    await mkdir(cache, { recursive: true });
    draft = await mkdtemp(join(cache, '.draft-'));
    for (const { name, content } of files) {
      await mkdir(dirname(join(draft, name)), { recursive: true });
      await writeFile(join(draft, name), content);
    }
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      // Another process may have been faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new ShootFluxError(
      `cannot write to ${cache}: ${errorMessage(error)}; choose a writable --distribution-cache.`,
    );
  } finally {
    if (draft !== undefined) await rm(draft, { recursive: true, force: true });
  }
}

/** Pushes a distribution as an artifact with one layer, with crane. Prints its name with the digest. */
export async function pushDistribution(
  dir: string,
  { to = missing('--to oci://REGISTRY/REPOSITORY:TAG'), ...values }: { to?: string; 'plain-http'?: boolean },
  terminal: Terminal,
): Promise<number> {
  const [, name, repository] = /^oci:\/\/((\S+):[\w.-]+)$/.exec(to) ?? [];
  if (name === undefined) throw new UsageError(`--to ${quote(to)} is not of the form oci://REGISTRY/REPOSITORY:TAG`);
  await usableReleases(dir);
  const paths = (await filesBelow(dir)).filter(isOfRelease);
  const files = await Promise.all(paths.map(async (path) => [path, await readFile(join(dir, path))] as const));
  const draft = await mkdtemp(join(tmpdir(), 'distribution-'));
  try {
    const layer = join(draft, 'layer.tar.gz');
    await writeFile(layer, await tarball(Object.fromEntries(files)));
    const append = ['append', '--oci-empty-base', '--new_layer', layer, '--new_tag', name];
    const { stdout } = await runProgram('crane', [...(values['plain-http'] ? ['--insecure'] : []), ...append]);
    const [digest] = /sha256:[0-9a-f]{64}/.exec(stdout) ?? [];
    if (digest === undefined) throw new Error(`crane has printed no digest: ${stdout}`);
    terminal.out(`${SCHEME}${repository}@${digest}\n`);
    return exitCodes.success;
  } catch (error) {
    const remedy = 'check that the registry answers here and that "crane auth login" was run';
    throw new ShootFluxError(`cannot push ${dir} to ${to}: ${lastLine(error)}; ${remedy}.`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
