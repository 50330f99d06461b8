import { fileURLToPath } from 'node:url';
import type { ImagePackages, SystemPackage } from '../bundle/list-packages.ts';
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
  const base = [nodeOf(image), ...image.packages.map((part) => systemComponent(part, image.system))];
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
