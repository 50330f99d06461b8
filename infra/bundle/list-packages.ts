import { readdirSync, readFileSync } from 'node:fs';

/** What an image contains beside the bundle. */
export interface ImagePackages {
  node: Record<string, string>;
  /** `ID` and `VERSION_ID` of the base's operating system, if it names them. */
  system: string | undefined;
  packages: SystemPackage[];
}

export interface SystemPackage {
  name: string;
  version: string;
  architecture: string;
}

const DPKG = '/var/lib/dpkg';

/** Prints what the image contains that this runs in, as JSON. */
function main(): void {
  const node = Object.fromEntries(
    Object.entries(process.versions).flatMap(([name, version]) => (version ? [[name, version]] : [])),
  );
  const list: ImagePackages = { node, system: system(), packages: records().map(packageOf) };
  process.stdout.write(`${JSON.stringify(list)}\n`);
}

/** The records of dpkg: one file, or one for each package as in images without dpkg itself. */
function records(): string[] {
  const files = ['status', ...list(`${DPKG}/status.d`).map((name) => `status.d/${name}`)];
  const texts = files.filter((name) => !name.endsWith('.md5sums')).map((name) => read(`${DPKG}/${name}`));
  return texts.flatMap((text) => text.split(/\n\n+/)).filter((record) => record.startsWith('Package: '));
}

function packageOf(record: string): SystemPackage {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(record)?.[1] ?? '';
  return { name: field('Package'), version: field('Version'), architecture: field('Architecture') };
}

function system(): string | undefined {
  const release = read('/etc/os-release');
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(release)?.[1];
  const [id, version] = [field('ID'), field('VERSION_ID')];
  return id === undefined ? undefined : [id, version].filter(Boolean).join('-');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

main();
