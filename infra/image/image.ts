import { type ExecFileException, execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Metafile } from 'esbuild';
import { ShootFluxError } from '../../shared/errors.ts';
import { bundleCli } from '../bundle/bundle-cli.ts';
import type { ImagePackages } from '../bundle/list-packages.ts';
import { type Bom, imageBom, npmBom } from './sbom.ts';

export interface ImageOptions {
  builder: Builder;
  tag: string;
  /** Version in the label; default: the version of this checkout. */
  version?: string | undefined;
  nodeImage?: string | undefined;
  baseImage?: string | undefined;
  /** Distribution that becomes part of the image; absent: it is mounted. */
  distribution?: string | undefined;
  oci?: string | undefined;
  sbom?: string | undefined;
  push?: boolean | undefined;
  /** The registry speaks HTTP, or has a certificate that is not trusted. */
  insecureRegistry?: boolean | undefined;
  epoch?: string | undefined;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the image, and writes and pushes what is asked for. */
export async function makeImage(options: ImageOptions): Promise<void> {
  const { builder, tag } = options;
  const context = await mkdtemp(join(tmpdir(), 'shoot-flux-image-'));
  try {
    const packages = await fillContext(context, options);
    await buildWith(options, context, await buildArguments(options));
    if (options.sbom !== undefined) {
      const bom = await bomOf(builder, tag, packages);
      await writeFile(options.sbom, `${JSON.stringify(bom, null, 2)}\n`);
    }
    if (options.oci !== undefined) await writeLayout(builder, tag, options.oci);
    const insecure = options.insecureRegistry === true ? ['--tls-verify=false'] : [];
    if (options.push === true) await run(builder, ['push', ...insecure, tag]);
  } finally {
    await rm(context, { recursive: true });
  }
}

async function buildArguments({ nodeImage, baseImage, version }: ImageOptions): Promise<Record<string, string>> {
  const { version: own } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const given = { NODE_IMAGE: nodeImage, BASE_IMAGE: baseImage, VERSION: version ?? own };
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** Writes what the Containerfile copies, readable for everyone. */
async function fillContext(context: string, { distribution }: ImageOptions): Promise<BundledPackage[]> {
  const app = join(context, 'app');
  const packages = await bundledPackages(await bundleCli(app));
  await writeFile(join(app, 'LICENSES.txt'), licenceText(packages));
  await cp(join(root, 'LICENSE'), join(app, 'LICENSE'));
  await cp(join(root, 'infra/image/Containerfile'), join(context, 'Containerfile'));
  const target = join(context, 'distribution');
  if (distribution === undefined) await mkdir(target);
  else await cp(distribution, target, { recursive: true });
  await normalize(context);
  return packages;
}

/** Sets modes and times, so that the umask of this process and the time of the build do not matter. */
async function normalize(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await normalize(path);
    else {
      await chmod(path, entry.name === 'shoot-flux.mjs' ? 0o755 : 0o644);
      await utimes(path, 0, 0);
    }
  }
  await chmod(folder, 0o755);
  await utimes(folder, 0, 0);
}

async function bomOf(builder: Builder, tag: string, packages: readonly BundledPackage[]): Promise<Bom> {
  const list = await runIn(builder, tag, ['/usr/local/bin/node', '/app/list-packages.mjs']);
  return imageBom(await npmBom(), packages, JSON.parse(list) as ImagePackages);
}

interface BundledPackage {
  name: string;
  version: string;
  licences: string[];
}

/** Returns the packages that a bundle was made of, sorted by name. */
async function bundledPackages({ outputs }: Metafile): Promise<BundledPackage[]> {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );
  const folders = new Set(files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const packages = await Promise.all([...folders].map(packageIn));
  const distinct = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...distinct.values()].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

async function packageIn(folder: string): Promise<BundledPackage> {
  const { name, version } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
  const files = (await readdir(join(root, folder))).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort();
  const licences = await Promise.all(files.map((file) => readFile(join(root, folder, file), 'utf8')));
  return { name, version, licences };
}

/** Returns the text that goes with the bundle: its packages require their licences to be passed on. */
function licenceText(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, licences }) =>
    [`${name} ${version}`, ...licences.map((text) => text.trim())].join('\n\n'),
  );
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

export const builders = ['docker', 'podman', 'buildah'] as const;

export type Builder = (typeof builders)[number];

async function buildWith(
  { builder, tag, epoch = '0' }: ImageOptions,
  context: string,
  args: Record<string, string>,
): Promise<void> {
  const time = builder === 'docker' ? ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`] : ['--timestamp', epoch];
  const values = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const file = ['--file', `${context}/Containerfile`];
  await run(builder, ['build', ...time, ...values, ...file, '--tag', tag, context]);
}

/** Runs a command in a new container of the image, and returns what it prints. */
async function runIn(builder: Builder, tag: string, command: string[]): Promise<string> {
  if (builder !== 'buildah') {
    const [entry = '', ...args] = command;
    return run(builder, ['run', '--rm', '--network=none', `--entrypoint=${entry}`, tag, ...args]);
  }
  const container = (await run(builder, ['from', '--pull-never', tag])).trim();
  try {
    return await run(builder, ['run', container, '--', ...command]);
  } finally {
    await run(builder, ['rm', container]);
  }
}

async function writeLayout(builder: Builder, tag: string, folder: string): Promise<void> {
  if (builder === 'docker')
    throw new ShootFluxError('docker cannot write an OCI layout; use --builder podman or buildah, or push the image');
  const [, version = 'latest'] = /:([^:/]+)$/.exec(tag) ?? [];
  await run(builder, ['push', tag, `oci:${folder}:${version}`]);
}

async function run(command: string, args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args, { maxBuffer: 2 ** 28 })).stdout;
  } catch (error) {
    const { code, signal, message, stdout = '', stderr = '' } = error as ExecFileException;
    const why = typeof code === 'number' ? code : (signal ?? message);
    throw new ShootFluxError(`${command} ${args[0]} failed (${why}): ${stderr.slice(-4000) || stdout}`);
  }
}
