import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ShootFluxError } from '../../shared/errors.ts';
import { flag, makeCommand, text } from '../make-command.ts';

const usage = `Usage: npm run publish-release -- --version X --registry R [--from DIR] [--plain-http]

Push image and charts of a release that "npm run release" has written, with crane and helm, which must be installed and
logged in. Writes their names with digests to DIR/PUBLISHED, one in a line, the image first.

  --from DIR     Folder of the release. Default: dist/release
  --plain-http   The registry speaks HTTP
`;

const run = promisify(execFile);

interface Options {
  version: string;
  registry: string;
  from: string;
  plainHttp: boolean;
}

async function pushImage({ version, registry, from, plainHttp }: Options): Promise<string> {
  const insecure = plainHttp ? ['--insecure'] : [];
  const tag = `${registry}/shoot-flux:${version}`;
  const { stdout } = await run('crane', [...insecure, 'push', join(from, 'image'), tag]);
  return withDigest(`${registry}/shoot-flux`, stdout);
}

async function pushChart(file: string, { version, registry, from, plainHttp }: Options): Promise<string> {
  const insecure = plainHttp ? ['--plain-http'] : [];
  const { stdout, stderr } = await run('helm', [
    'push',
    join(from, 'charts', file),
    `oci://${registry}/charts`,
    ...insecure,
  ]);
  return withDigest(`${registry}/charts/${file.slice(0, -`-${version}.tgz`.length)}`, stdout + stderr);
}

function withDigest(name: string, output: string): string {
  const [digest] = /sha256:[0-9a-f]{64}/.exec(output) ?? [];
  if (digest === undefined) throw new Error(`${name} was pushed, but no digest was printed: ${output}`);
  return `${name}@${digest}`;
}

/** Returns what is published, one in a line. */
async function publish(options: Options): Promise<string> {
  const names = [await pushImage(options)];
  for (const file of (await readdir(join(options.from, 'charts'))).sort()) names.push(await pushChart(file, options));
  const lines = `${names.join('\n')}\n`;
  await writeFile(join(options.from, 'PUBLISHED'), lines);
  return lines;
}

const options = { version: text, registry: text, from: text, 'plain-http': flag };

await makeCommand(
  usage,
  options,
  async ({ version, registry, from = 'dist/release', 'plain-http': plainHttp = false }) => {
    if (version === undefined || registry === undefined) return undefined;
    return publish({ version, registry, from, plainHttp }).catch((error: Error) => {
      throw new ShootFluxError(error.message);
    });
  },
);
