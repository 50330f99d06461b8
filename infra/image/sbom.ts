import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { runProgram } from '../make-command.ts';

export interface Component {
  type: string;
  name: string;
  version: string;
  purl: string;
  'bom-ref': string;
  [field: string]: unknown;
}

export interface Bom {
  bomFormat: 'CycloneDX';
  specVersion: string;
  serialNumber?: string;
  version: number;
  metadata: { timestamp?: string; component: Component; [field: string]: unknown };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** What an image contains beside the bundle. */
export interface ImagePackages {
  node: NodeJS.Dict<string>;
  /** One for each platform. */
  bases: BasePackages[];
}

export interface BasePackages {
  /** `ID` and `VERSION_ID` of the base's operating system, if it names them. */
  system: string | undefined;
  packages: SystemPackage[];
}

interface SystemPackage {
  name: string;
  version: string;
  architecture: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Returns what npm says of all dependencies in the lock file: with `--omit=dev` it leaves out what tests use, too. */
export async function npmBom(): Promise<Bom> {
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const { stdout } = await runProgram('npm', args, root);
  return JSON.parse(stdout);
}

/** Returns the bill of materials of an image. Two equal images have the same: it has no random number and no time. */
export function imageBom(npm: Bom, bundled: readonly { name: string; version: string }[], image: ImagePackages): Bom {
  const { serialNumber: _, metadata, ...rest } = npm;
  const { timestamp: __, component, ...others } = metadata;
  const known = new Map(npm.components.map((part) => [part['bom-ref'], part]));
  const libraries = bundled.map(({ name, version }) => {
    const part = known.get(`${name}@${version}`);
    if (part === undefined)
      throw new Error(`The bundle contains ${name}@${version}, which the lock file does not have.`);
    return part;
  });
  const refs = new Set([component['bom-ref'], ...libraries.map((part) => part['bom-ref'])]);
  const between = npm.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((target) => refs.has(target)) }));
  const system = image.bases.flatMap((base) => base.packages.map((part) => systemComponent(part, base.system)));
  // Packages without an architecture are in each base.
  const distinct = new Map([nodeOf(image), ...system].map((part) => [part['bom-ref'], part]));
  const base = [...distinct.values()];
  return {
    ...rest,
    metadata: { ...others, component: { ...component, type: 'container', name: 'shoot-flux' } },
    components: [...libraries, ...base],
    dependencies: [...between, ...base.map((part) => ({ ref: part['bom-ref'], dependsOn: [] }))],
  };
}

/** Node.js with the libraries that are compiled into it; those that are not have an empty version. */
function nodeOf({ node: { node = '', modules: _, napi: __, ...libraries } }: ImagePackages): Component {
  const components = Object.entries(libraries).flatMap(([name, version]) =>
    version ? [generic(name, version, 'node/')] : [],
  );
  return { ...generic('node', node), components };
}

function generic(name: string, version: string, within = ''): Component {
  const purl = `pkg:generic/${encodeURIComponent(name)}@${encodeURIComponent(version)}`;
  return { 'bom-ref': `${within}${name}@${version}`, type: 'library', name, version, purl };
}

function systemComponent({ name, version, architecture }: SystemPackage, system = 'debian'): Component {
  const [vendor = 'debian'] = system.split('-');
  const at = `${encodeURIComponent(name)}@${encodeURIComponent(version)}`;
  const purl = `pkg:deb/${vendor}/${at}?arch=${architecture}&distro=${encodeURIComponent(system)}`;
  return { 'bom-ref': purl, type: 'library', name, version, purl };
}

/** The records of dpkg: one file, or one for each package as in images without dpkg itself. */
const RECORDS = 'var/lib/dpkg/{status,status.d/!(*.md5sums)}';

/** Reads the packages of a base from its files. */
export function packagesBelow(folder: string): BasePackages {
  const { ID, VERSION_ID } = parseEnv(textsOf(folder, 'etc/os-release').join(''));
  const system = ID === undefined ? undefined : [ID, VERSION_ID].filter(Boolean).join('-');
  const records = textsOf(folder, RECORDS).flatMap((text) => text.split(/\n\n+/));
  return { system, packages: records.filter((record) => record.startsWith('Package: ')).map(packageOf) };
}

function packageOf(record: string): SystemPackage {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(record)?.[1] ?? '';
  return { name: field('Package'), version: field('Version'), architecture: field('Architecture') };
}

/** Returns the texts of the files that can be read: an image may have links that lead nowhere. */
function textsOf(folder: string, pattern: string): string[] {
  return globSync(pattern, { cwd: folder }).flatMap((path) => {
    try {
      return [readFileSync(join(folder, path), 'utf8')];
    } catch {
      return [];
    }
  });
}
