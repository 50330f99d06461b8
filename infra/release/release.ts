import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zipSync } from 'fflate';
import { stringify } from 'yaml';
import { ShootFluxError } from '../../shared/errors.ts';
import { bundleFunction, lambdaDefinitions } from '../bundle/bundle.ts';
import { bundleCommand } from '../bundle/bundle-cli.ts';
import { schemaFiles } from '../docs/json-schema.ts';
import { isQueued } from '../functions.ts';
import { chartArchive, tarball } from '../gardener/registration/chart-archive.ts';
import {
  landscapeKitTemplate,
  type Release,
  registration,
  registrationFiles,
} from '../gardener/registration/registration.ts';
import { type Builder, builders, makeImage } from '../image/image.ts';
import { knativeManifests } from '../knative/manifests.ts';
import { flag, makeCommand, text, type Values } from '../make-command.ts';
import { filesBelow, writeChecksums } from './checksums.ts';
import { statements, vexFile } from './vex.ts';

const help = `Usage:
  npm run release -- --version X --registry R [options]

Write everything that a release consists of into a folder: image, charts, registrations with Gardener, packages for
Lambda, manifests for Knative, JSON Schemas, bill of materials with what does not affect shoot-flux, notes and checksums.
Nothing is published.

Options:
  --version X          Version, like 0.1.0; CHANGELOG.md must have a section for it (required).
  --registry R         Registry of image and charts, for example registry.example.com/gardener (required).
  --out DIR            Folder to write. Default: dist/release.
  --distribution DIR   Make this distribution part of the image and of the packages for Lambda.
  --downloads URL      Where the files will be found: adds the manifests by which krew and flux install the command.
  --builder NAME       podman or buildah. Default: buildah.
  --platform LIST      Platforms of the image. Default: linux/amd64,linux/arm64.
  --base-image IMAGE   Replace the base of the image.
  --node-image IMAGE   Replace the image with Node.js 24.
  --no-image           Leave out the image and its bill of materials.
  --help               Show this help.

The environment variable SOURCE_DATE_EPOCH is the time of the image and of its files. Default: 0.
Exit codes: 0 success, 1 failure, 2 wrong usage.
`;

const options = {
  ...{ version: text, registry: text, out: text, distribution: text, downloads: text, builder: text },
  ...{ platform: text, 'base-image': text, 'node-image': text, 'no-image': flag },
};

/** What the help says, with the defaults. */
interface ReleaseOptions extends Values<typeof options>, Release {
  version: string;
  registry: string;
  out: string;
}

const changelog = fileURLToPath(new URL('../../CHANGELOG.md', import.meta.url));

/**
 * Writes everything that a release consists of: the same checkout, distribution and bases give the same bytes.
 * @param builder absent: everything but the image
 */
export async function makeRelease(release: ReleaseOptions, builder?: Builder): Promise<void> {
  const { version, registry, out, distribution, downloads } = release;
  checkVersion(version);
  const notes = notesOf(await readFile(changelog, 'utf8'), version);
  if (existsSync(join(out, 'charts')))
    throw new ShootFluxError(`${out} contains a release already; remove it, or choose another folder with --out.`);
  await mkdir(out, { recursive: true });
  await writeFiles(out, {
    'NOTES.md': notes,
    ...vexFile(statements),
    ...schemaFiles(),
    ...(await chartFiles(release)),
    ...below('registration', {
      ...(await registrationFiles(release)),
      'controller-registration-inline.yaml': await registration(release, 'inline'),
      'operator-extension.yaml.tpl': landscapeKitTemplate(release),
    }),
    ...below('knative', await knativeManifests({ newName: `${registry}/shoot-flux`, newTag: version })),
    ...(await lambdaPackages(distribution)),
    ...(await commandFiles(version, downloads)),
  });
  if (builder !== undefined) {
    const written = { oci: join(out, 'image'), sbom: join(out, 'sbom.json') };
    const tag = `${registry}/shoot-flux:${version}`;
    await makeImage({ ...release, ...written, builder, tag, 'image-version': version });
  }
  await writeChecksums(out);
}

type Files = Record<string, string | Buffer>;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The charts of a release; gardener-operator takes the parts of the admission chart alone. */
const charts = [
  'shoot-flux',
  'shoot-flux-admission',
  'shoot-flux-admission/charts/runtime',
  'shoot-flux-admission/charts/application',
];

async function chartFiles({ version, registry }: Release): Promise<Files> {
  const files: Files = {};
  for (const chart of charts) {
    const { name, archive } = await chartArchive(join(root, 'charts', chart), version, registry);
    files[`charts/${name}-${version}.tgz`] = archive;
  }
  return files;
}

/** Returns files by their path below a folder. */
function below<Content>(folder: string, files: Record<string, Content>): Record<string, Content> {
  return Object.fromEntries(Object.entries(files).map(([name, content]) => [`${folder}/${name}`, content]));
}

/** Packs each function for Lambda as serverless.yml does; those behind queues get the distribution, if there is one. */
async function lambdaPackages(distribution?: string): Promise<Files> {
  const files: Files = {};
  const flux = distribution === undefined ? {} : await contents(distribution, 'dist/flux-distribution');
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-lambda-'));
  const definitions = await lambdaDefinitions();
  await Promise.all(definitions.map((definition) => bundleFunction(definition, folder.path)));
  for (const definition of definitions) {
    const { name } = definition;
    const bundle = await contents(join(folder.path, name), `dist/functions/${name}`);
    files[`lambda/${name}.zip`] = zip({ ...(isQueued(definition) && flux), ...bundle });
  }
  return files;
}

/** The command for people, a package of npm with it, and manifests by which kubectl's krew and flux install it. */
async function commandFiles(version: string, downloads: string | undefined): Promise<Files> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-command-'));
  await bundleCommand(folder.path, version);
  const program = await readFile(join(folder.path, 'shoot-flux'));
  const manifest = await readFile(join(folder.path, 'package.json'));
  const { description, engines } = JSON.parse(manifest.toString());
  const archive = await tarball({ 'package/package.json': manifest, 'package/shoot-flux': program }, 0o755);
  const packageName = `shoot-flux-command-${version}.tgz`;
  const files = { 'command/shoot-flux': program, [`command/${packageName}`]: archive };
  if (downloads === undefined) return files;
  const tag = `v${version}`;
  const systems = ['linux', 'darwin'];
  const krew = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'shoot-flux' },
    spec: {
      ...{ version: tag, shortDescription: 'Show and explain Flux in the Shoots of Gardener', description },
      caveats: `It needs Node.js ${engines.node}.`,
      platforms: systems.map((os) => ({
        selector: { matchLabels: { os } },
        ...{ uri: `${downloads}/${packageName}`, sha256: sha256(archive), bin: 'package/shoot-flux' },
      })),
    },
  };
  const file = { url: `${downloads}/shoot-flux`, checksum: `sha256:${sha256(program)}` };
  const platforms = systems.flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ os, arch, ...file })));
  const flux = {
    ...{ apiVersion: 'cli.fluxcd.io/v1beta1', kind: 'Plugin', name: 'shoot', description, bin: 'flux-shoot' },
    versions: [{ version, platforms }],
  };
  return { ...files, 'command/krew.yaml': stringify(krew), 'command/flux-plugin.yaml': stringify(flux) };
}

const sha256 = (content: Buffer) => hash('sha256', content);

async function contents(folder: string, prefix: string): Promise<Record<string, Buffer>> {
  const files: Record<string, Buffer> = {};
  for (const path of await filesBelow(folder)) files[`${prefix}/${path}`] = await readFile(join(folder, path));
  return files;
}

const zipOptions = {
  level: 9,
  // The first moment that the format knows, which has no time zone.
  mtime: new Date(1980, 0, 1),
  // A regular file that everyone may read, as Unix writes it.
  os: 3,
  attrs: (0o100644 << 16) >>> 0,
} as const;

/** Packs files as a zip archive without times or owners: the same files in the same order give the same bytes. */
function zip(files: Record<string, Buffer>): Buffer {
  return Buffer.from(zipSync(files, zipOptions));
}

/** Writes files by path into a folder. */
export async function writeFiles(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** A version of a release: three numbers, and for a candidate what follows them. */
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$/;

/** Refuses what cannot be a tag of an image and a version of a chart. */
export function checkVersion(version: string): void {
  if (!VERSION.test(version))
    throw new ShootFluxError(
      `${JSON.stringify(version)} is not a version; write it like 0.1.0 or 0.1.0-rc.1, without v.`,
    );
}

/**
 * Returns the notes of a release: its section of the changelog. A candidate has the unreleased section.
 * @throws ShootFluxError if there is none
 */
export function notesOf(changelog: string, version: string): string {
  const section = version.includes('-') ? 'Unreleased' : version;
  const parts = changelog.split(/^## /m).slice(1);
  const found = parts.find((part) => part.startsWith(`[${section}]`));
  if (found === undefined)
    throw new ShootFluxError(
      `CHANGELOG.md has no section [${section}]; rename the section [Unreleased] and give it the date of the release.`,
    );
  const [, ...lines] = found.split('\n');
  return `# shoot-flux ${version}\n\n${lines.join('\n').trim()}\n`;
}

if (import.meta.main) {
  await makeCommand(help, options, async (values) => {
    const { version, registry, out = 'dist/release' } = values;
    // docker writes no OCI layout.
    const builder = builders.find((name) => name !== 'docker' && name === (values.builder ?? 'buildah'));
    if (version === undefined || registry === undefined || builder === undefined) return undefined;
    await makeRelease({ ...values, version, registry, out }, values['no-image'] ? undefined : builder);
    return `${out} has the release ${version}.\n`;
  });
}
