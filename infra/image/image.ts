import { chmod, cp, mkdir, mkdtempDisposable, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { ShootFluxError } from '../../shared/errors.ts';
import { bundleCli } from '../bundle/bundle-cli.ts';
import { flag, makeCommand, runProgram, text, type Values } from '../make-command.ts';
import { type BasePackages, imageBom, npmBom, packagesBelow } from './sbom.ts';

const help = `Usage:
  npm run image -- --tag NAME:TAG [options]

Build the container image, which has all commands: one index with an image for each platform.

Options:
  --tag NAME:TAG        Name of the image (required).
  --builder NAME        docker, podman or buildah. Default: docker.
  --platform LIST       Platforms. Default: linux/amd64,linux/arm64. docker needs its containerd image store for two.
  --distribution DIR    Make this distribution part of the image, at /flux-distribution. Without it, mount one there.
  --base-image IMAGE    Replace the base: libc, libstdc++ and certificates, for each platform.
  --node-image IMAGE    Replace the image with Node.js 24 as /usr/local/bin/node, for each platform.
  --image-version TEXT  Version in the image's label. Default: the version of this checkout.
  --sbom FILE           Write the bill of materials (CycloneDX).
  --oci DIR             Write the image in OCI's layout; with podman and buildah.
  --push                Push the image to the registry that its name begins with.
  --insecure-registry   The registry speaks HTTP; with podman and buildah.
  --help                Show this help.

The environment variable SOURCE_DATE_EPOCH is the time of the image and of its files. Default: 0.
Exit codes: 0 success, 1 failure, 2 wrong usage.
`;

const options = {
  ...{ tag: text, builder: text, platform: text, distribution: text, 'base-image': text, 'node-image': text },
  ...{ 'image-version': text, sbom: text, oci: text, push: flag, 'insecure-registry': flag },
};

/** What the help says, with the defaults. */
interface ImageOptions extends Values<typeof options> {
  builder: Builder;
  tag: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the image, and writes and pushes what is asked for. */
export async function makeImage(options: ImageOptions): Promise<void> {
  const { builder, tag, sbom, oci, push, 'insecure-registry': isInsecure, platform = PLATFORMS } = options;
  await using context = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-image-'));
  const packages = await fillContext(context.path, options.distribution);
  const build = await buildArguments(context.path, options);
  // A build adds to the list of images that an earlier one has made.
  if (builder !== 'docker') await runProgram(builder, ['manifest', 'rm', tag]).catch(() => {});
  const name = [builder === 'docker' ? '--tag' : '--manifest', tag];
  // docker makes the index at once; the others would begin it with the platform that is ready first.
  for (const platforms of builder === 'docker' ? [platform] : platform.split(','))
    await runProgram(builder, [...build, '--platform', platforms, ...name, context.path]);
  if (sbom !== undefined) {
    const bases: BasePackages[] = [];
    for (const one of platform.split(',')) {
      const folder = join(context.path, 'base', one);
      const output = ['--platform', one, '--target', 'base', '--output', `type=local,dest=${folder}`];
      await runProgram(builder, [...build, ...output, context.path]);
      bases.push(packagesBelow(folder));
    }
    const bom = imageBom(await npmBom(), packages, { node: await nodeVersions(builder, tag), bases });
    await writeFile(sbom, `${JSON.stringify(bom, null, 2)}\n`);
  }
  if (oci !== undefined) await writeLayout(builder, tag, oci);
  const insecure = isInsecure ? ['--tls-verify=false'] : [];
  const pushed = builder === 'docker' ? ['push', tag] : [...pushAll, ...insecure, tag, `docker://${tag}`];
  if (push) await runProgram(builder, pushed);
}

const PLATFORMS = 'linux/amd64,linux/arm64';

/** Pushes a list of images with podman or buildah. */
const pushAll = ['manifest', 'push', '--all'];

/** Writes what the Containerfile copies, readable for everyone. */
async function fillContext(context: string, distribution: string | undefined): Promise<BundledPackage[]> {
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
async function normalize(context: string): Promise<void> {
  for (const entry of await readdir(context, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    await chmod(path, entry.isDirectory() || entry.name === 'shoot-flux.mjs' ? 0o755 : 0o644);
    await utimes(path, 0, 0);
  }
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

/** Returns the arguments of each build, except platforms, name and context. */
async function buildArguments(context: string, options: ImageOptions): Promise<string[]> {
  const { builder, 'node-image': NODE_IMAGE, 'base-image': BASE_IMAGE, 'image-version': version } = options;
  const { SOURCE_DATE_EPOCH: epoch = '0' } = process.env;
  const { version: own } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const given = Object.entries({ NODE_IMAGE, BASE_IMAGE, VERSION: version ?? own });
  const values = given.flatMap(([name, value]) => (value ? ['--build-arg', `${name}=${value}`] : []));
  const time = builder === 'docker' ? ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`] : ['--timestamp', epoch];
  const file = ['--file', `${context}/Containerfile`];
  return ['build', ...time, ...values, ...file];
}

/** Asks the Node.js of this machine's platform for its version and libraries. */
async function nodeVersions(builder: Builder, tag: string): Promise<NodeJS.ProcessVersions> {
  return JSON.parse(await printedIn(builder, tag, '/usr/local/bin/node', '-p', 'JSON.stringify(process.versions)'));
}

/** Runs a program in a new container of the image, and returns what it prints. */
async function printedIn(builder: Builder, tag: string, program: string, ...args: string[]): Promise<string> {
  if (builder !== 'buildah') {
    const container = ['run', '--rm', '--network=none', `--entrypoint=${program}`, tag];
    return (await runProgram(builder, [...container, ...args])).stdout;
  }
  const container = (await runProgram(builder, ['from', '--pull-never', tag])).stdout.trim();
  try {
    return (await runProgram(builder, ['run', container, '--', program, ...args])).stdout;
  } finally {
    await runProgram(builder, ['rm', container]);
  }
}

async function writeLayout(builder: Builder, tag: string, folder: string): Promise<void> {
  if (builder === 'docker')
    throw new ShootFluxError('docker cannot write an OCI layout; use --builder podman or buildah, or push the image');
  const [, version = 'latest'] = /:([^:/]+)$/.exec(tag) ?? [];
  await runProgram(builder, [...pushAll, tag, `oci:${folder}:${version}`]);
}

if (import.meta.main) {
  await makeCommand(help, options, async (values) => {
    const builder = builders.find((name) => name === (values.builder ?? 'docker'));
    if (values.tag === undefined || builder === undefined) return undefined;
    await makeImage({ ...values, builder, tag: values.tag });
    return `${values.tag} is built.\n`;
  });
}
