import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Zippable, zipSync } from 'fflate';
import { bundleFunction, lambdaDefinitions } from '../bundle.ts';
import { isWebhook } from '../functions.ts';
import { chartArchive } from '../gardener/registration/chart-archive.ts';
import { inlineRegistration, registrationFiles } from '../gardener/registration/files.ts';
import type { Release } from '../gardener/registration/registration.ts';
import { knativeManifests } from '../knative/manifests.ts';
import { filesBelow } from './folder.ts';

type Files = Record<string, string | Buffer>;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The charts of a release; gardener-operator takes the parts of the admission chart alone. */
const charts = [
  'shoot-flux',
  'shoot-flux-admission',
  'shoot-flux-admission/charts/runtime',
  'shoot-flux-admission/charts/application',
];

/** Packs the charts, by file name. */
export async function chartFiles({ version, registry }: Release): Promise<Files> {
  const files: Files = {};
  for (const chart of charts) {
    const { name, archive } = await chartArchive(join(root, 'charts', chart), version, registry);
    files[`charts/${name}-${version}.tgz`] = archive;
  }
  return files;
}

/** Generates the registrations, by file name. */
export async function registrations(release: Release): Promise<Files> {
  const files = Object.entries({
    ...(await registrationFiles(release)),
    'controller-registration-inline.yaml': await inlineRegistration(release),
  });
  return Object.fromEntries(files.map(([name, text]) => [`registration/${name}`, text]));
}

/** Generates the manifests for Knative, by file name. */
export async function knativeFiles({ version, registry }: Release): Promise<Files> {
  const files = await knativeManifests({ newName: `${registry}/shoot-flux`, newTag: version });
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`knative/${name}`, text]));
}

/**
 * Packs each function for Lambda as serverless.yml does.
 * @param distribution becomes part of the functions behind queues; absent: the deployment adds one
 */
export async function lambdaPackages(distribution?: string): Promise<Files> {
  const files: Files = {};
  const flux = distribution === undefined ? [] : await contents(distribution, 'dist/flux-distribution');
  await using folder = await mkdtempDisposable(join(tmpdir(), 'shoot-flux-lambda-'));
  const definitions = await lambdaDefinitions();
  await Promise.all(definitions.map((definition) => bundleFunction(definition, folder.path)));
  for (const definition of definitions) {
    const { name } = definition;
    const bundle = await contents(join(folder.path, name), `dist/functions/${name}`);
    files[`lambda/${name}.zip`] = zip([...bundle, ...(isWebhook(definition) ? [] : flux)]);
  }
  return files;
}

async function contents(folder: string, prefix: string) {
  const paths = await filesBelow(folder);
  return Promise.all(
    paths.map(async (path) => ({ path: `${prefix}/${path}`, content: await readFile(join(folder, path)) })),
  );
}

/** A file in a package. */
interface ZipFile {
  path: string;
  content: Buffer;
}

const common = {
  // The first moment that the format knows, which has no time zone.
  mtime: new Date(1980, 0, 1),
  // A regular file that everyone may read, as Unix writes it.
  os: 3,
  attrs: (0o100644 << 16) >>> 0,
} as const;

/** Packs files as a zip archive without times or owners: the same files give the same bytes. */
function zip(files: readonly ZipFile[]): Buffer {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const entries = sorted.map(({ path, content }): [string, Zippable[string]] => [path, [content, common]]);
  return Buffer.from(zipSync(Object.fromEntries(entries), { level: 9 }));
}
