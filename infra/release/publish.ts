import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ShootFluxError } from '../../shared/errors.ts';
import { flag, makeCommand, runProgram, text } from '../make-command.ts';
import { writeChecksums } from './checksums.ts';

const usage = `Usage: npm run publish-release -- --version X --registry R [--from DIR] [--plain-http]

Push image and charts of a release that "npm run release" has written, with crane and helm, which must be installed and
logged in. Writes their names with digests to DIR/PUBLISHED, one in a line, the image first, into the registrations,
and into a component descriptor of OCM, DIR/component-descriptor.yaml.

  --from DIR     Folder of the release. Default: dist/release
  --plain-http   The registry speaks HTTP
`;

const options = { version: text, registry: text, from: text, 'plain-http': flag };

/** Pushes with a program that prints the digest. @returns the name with it */
async function push(name: string, program: string, args: string[]): Promise<string> {
  const { stdout, stderr } = await runProgram(program, args);
  // helm prints it to either, crane to stdout.
  const [digest] = /sha256:[0-9a-f]{64}/.exec(program === 'crane' ? stdout : stdout + stderr) ?? [];
  if (digest !== undefined) return `${name}@${digest}`;
  throw new ShootFluxError(`${name} was pushed, but no digest was printed: ${stdout}${stderr}`);
}

await makeCommand(usage, options, async ({ version, registry, from = 'dist/release', 'plain-http': isPlain }) => {
  if (version === undefined || registry === undefined) return undefined;
  const image = `${registry}/shoot-flux`;
  const insecure = isPlain ? ['--insecure'] : [];
  const names = [await push(image, 'crane', [...insecure, 'push', join(from, 'image'), `${image}:${version}`])];
  for (const file of (await readdir(join(from, 'charts'))).sort()) {
    const chart = `${registry}/charts/${file.slice(0, -`-${version}.tgz`.length)}`;
    const plain = isPlain ? ['--plain-http'] : [];
    names.push(await push(chart, 'helm', ['push', join(from, 'charts', file), `oci://${registry}/charts`, ...plain]));
  }
  const descriptor = componentDescriptor(registry, version, names);
  await writeFile(join(from, 'component-descriptor.yaml'), `${JSON.stringify(descriptor, null, 2)}\n`);
  const lines = `${names.join('\n')}\n`;
  await writeFile(join(from, 'PUBLISHED'), lines);
  for (const file of await readdir(join(from, 'registration'))) {
    // A template names no release.
    if (file.endsWith('.tpl')) continue;
    const path = join(from, 'registration', file);
    const pinned = withDigests(await readFile(path, 'utf8'), names, version);
    if (!pinned.includes(`digest: ${names[0]?.split('@')[1]}`))
      throw new ShootFluxError(`${path} does not name ${image}:${version}; write the release for this registry again.`);
    await writeFile(path, pinned);
  }
  await writeChecksums(from);
  return lines;
});

/**
 * Returns the component descriptor, version 2, of the Open Component Model. It is written as JSON, which is YAML.
 * @param names of image and charts with their digests, the image first
 */
function componentDescriptor(registry: string, version: string, names: string[]): object {
  const resources = names.map((named, index) => {
    const [name = '', digest = ''] = named.split('@sha256:');
    return {
      // A chart has the name of the image.
      name: index === 0 ? 'image' : name.slice(name.lastIndexOf('/') + 1),
      // gardener-landscape-kit skips charts of the type without a version.
      ...{ version, type: index === 0 ? 'ociImage' : 'helmChart/v1', relation: 'local' },
      access: { type: 'ociArtifact', imageReference: named.replace('@', `:${version}@`) },
      digest: { hashAlgorithm: 'SHA-256', normalisationAlgorithm: 'ociArtifactDigest/v1', value: digest },
    };
  });
  return {
    meta: { schemaVersion: 'v2' },
    component: {
      // A domain with a path, and without a port.
      ...{ name: `${registry}/shoot-flux`.replace(/:\d+/, ''), version, provider: registry },
      ...{ repositoryContexts: [], sources: [], componentReferences: [], resources },
    },
  };
}

/**
 * Returns a registration that names digests beside the tags, as `npm run registration -- --digests` writes it. Without a
 * YAML parser, because no package of npm runs where a release is signed (decision 47).
 */
function withDigests(registration: string, names: string[], version: string): string {
  return names.reduce((text, named) => {
    const [name = '', digest] = named.split('@');
    return text.replaceAll(`ref: ${name}:${version}\n`, `ref: ${named.replace('@', `:${version}@`)}\n`).replaceAll(
      // Once, also when a release is published again.
      new RegExp(`( +)repository: ${name.replaceAll('.', '\\.')}\n +tag: ${version}\n(?! +digest: )`, 'g'),
      `$&$1digest: ${digest}\n`,
    );
  }, registration);
}
