import { globSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** What an image contains beside the bundle. */
export interface ImagePackages {
  node: NodeJS.Dict<string>;
  /** `ID` and `VERSION_ID` of the base's operating system, if it names them. */
  system: string | undefined;
  packages: SystemPackage[];
}

export interface SystemPackage {
  name: string;
  version: string;
  architecture: string;
}

/** The records of dpkg: one file, or one for each package as in images without dpkg itself. */
const RECORDS = '/var/lib/dpkg/{status,status.d/!(*.md5sums)}';

/** Prints what the image contains that this runs in, as JSON. */
function main(): void {
  const { ID, VERSION_ID } = parseEnv(textsOf('/etc/os-release').join(''));
  const system = ID === undefined ? undefined : [ID, VERSION_ID].filter(Boolean).join('-');
  const records = textsOf(RECORDS).flatMap((text) => text.split(/\n\n+/));
  const packages = records.filter((record) => record.startsWith('Package: ')).map(packageOf);
  process.stdout.write(`${JSON.stringify({ node: process.versions, system, packages } satisfies ImagePackages)}\n`);
}

function packageOf(record: string): SystemPackage {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(record)?.[1] ?? '';
  return { name: field('Package'), version: field('Version'), architecture: field('Architecture') };
}

/** Returns the texts of the files that can be read: an image may have links that lead nowhere. */
function textsOf(pattern: string): string[] {
  return globSync(pattern).flatMap((path) => {
    try {
      return [readFileSync(path, 'utf8')];
    } catch {
      return [];
    }
  });
}

main();
