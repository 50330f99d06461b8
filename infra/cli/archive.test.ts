import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { unpack, verifyArchive } from './archive.ts';
import { type Entry, tarOf } from './tar-testing.ts';
import { files, shootFlux } from './testing.ts';

const folder = join(standIn.folder, standIn.version);
const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
const entries: Entry[] = await Promise.all(
  names.map(async (name) => ({ name, content: await readFile(join(folder, name)) })),
);
const archive = gzipSync(tarOf(entries));
const sha256 = createHash('sha256').update(archive).digest('hex');
const other = '0'.repeat(64);

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

/** A folder with the archive and its checksums; `make` runs `distribution make` with it. */
async function ground(content: Uint8Array = archive, checksums = `${sha256}  manifests.tar.gz\n`) {
  const input = await files({ 'checksums.txt': checksums, 'a.sig': '', 'a.pem': '', 'a.json': '{}' });
  const from = join(input.dir, 'manifests.tar.gz');
  await writeFile(from, content);
  const target = join(input.dir, 'distribution');
  const options = ['--flux-distribution', target, '--from', from, '--version', 'v2.9.99'];
  const make = (...args: string[]) => shootFlux(['distribution', 'make', ...options, ...args]);
  return {
    ...input,
    ...{ from, target, make },
    /** Expects that nothing is made, and returns why. */
    async refused(...args: string[]): Promise<string> {
      const { code, err } = await make(...args);
      expect({ code, made: await readdir(target).catch(() => []) }).toEqual({ code: 1, made: [] });
      return err;
    },
    /** Puts a program named cosign in front of the PATH, which records its arguments and its standard input. */
    async cosign(status: number, message = '', begin = ''): Promise<() => Promise<string>> {
      const bin = join(input.dir, 'bin');
      await mkdir(bin);
      const record = join(input.dir, 'record');
      const script = `#!/bin/sh\n${begin}\n{ printf '%s\\n' "$@"; cat; } > '${record}'\necho '${message}' >&2\nexit ${status}\n`;
      await writeFile(join(bin, 'cosign'), script, { mode: 0o755 });
      process.env.PATH = `${bin}${delimiter}${path}`;
      return () => readFile(record, 'utf8');
    },
  };
}

test('accepts an archive with the expected checksum, and says that it was verified', async () => {
  const verified = { code: 0, err: expect.stringContaining(': verified and created with ') };
  await using at = await ground();
  expect(await at.make('--sha256', sha256.toUpperCase())).toMatchObject(verified);
  const release = `${other}  flux_2.9.99_linux_amd64.tar.gz\n${sha256}  manifests.tar.gz\n`;
  await using listed = await ground(archive, release);
  expect(await listed.make('--checksums', listed.paths['checksums.txt'])).toMatchObject(verified);
});

test('refuses an archive with another checksum before it unpacks it', async () => {
  await using at = await ground(Buffer.from('not even an archive'), `${other}  manifests.tar.gz\n`);
  const sentence = /has the SHA-256 [0-9a-f]{64}, but \S+ says 0{64}; download the archive again, and do not use this/;
  expect(await at.refused('--sha256', other)).toMatch(sentence);
  expect(await at.refused('--checksums', at.paths['checksums.txt'])).toMatch(sentence);
});

test.each([
  ['no line for the archive', `${sha256}  other.tar.gz\n`, /does not list manifests\.tar\.gz exactly once; pass/],
  [
    'two lines for the archive',
    `${sha256}  manifests.tar.gz\n${other}  manifests.tar.gz\n`,
    /does not list manifests\.tar\.gz exactly once; pass/,
  ],
  [
    'names of another release',
    `${other}  flux_2.9.4_linux_amd64.tar.gz\n${sha256}  manifests.tar.gz\n`,
    /checksums\.txt is of Flux v2\.9\.4, but v2\.9\.99 was asked for; pass the checksums of this release, or its version\.\n$/,
  ],
])('refuses an archive when the checksums have %s', async (_, checksums, message) => {
  await using at = await ground(archive, checksums);
  expect(await at.refused('--checksums', at.paths['checksums.txt'])).toMatch(message);
});

test('has cosign verify that the checksums are those of this Flux release', async () => {
  await using at = await ground();
  const record = await at.cosign(0, 'Verified OK');
  const { 'checksums.txt': checksums, 'a.sig': sig, 'a.pem': pem, 'a.json': json } = at.paths;
  expect(await at.make('--checksums', checksums, '--signature', sig, '--certificate', pem)).toMatchObject({ code: 0 });
  const given = [
    ...['verify-blob', '--signature', sig, '--certificate', pem, '--certificate-identity-regexp'],
    '^https://github\\.com/fluxcd/flux2/\\.github/workflows/[^@/]+@refs/tags/v2\\.9\\.99$',
    ...['--certificate-oidc-issuer', 'https://token.actions.githubusercontent.com', '-'],
  ];
  expect(await record()).toBe(`${given.join('\n')}\n${sha256}  manifests.tar.gz\n`);
  expect(await at.make('--checksums', checksums, '--bundle', json)).toMatchObject({ code: 0 });
  expect((await record()).split('\n').slice(0, 3)).toEqual(['verify-blob', '--bundle', json]);
});

test('refuses what cosign refuses, without its secrets, and a signature that no cosign can verify', async () => {
  await using at = await ground();
  const options = ['--checksums', at.paths['checksums.txt'], '--bundle', at.paths['a.json']];
  process.env.PATH = at.dir;
  expect(await at.refused(...options)).toContain(
    'cosign is not installed, so the signature cannot be verified; install cosign.',
  );
  await at.cosign(1, 'Error: none matched, GET https://me:geheim12@rekor.example.com');
  const err = await at.refused(...options);
  expect(err).toContain('for Flux v2.9.99: Error: none matched, GET https://');
  expect(err).toContain('; download the release again, and do not use these files.');
  expect(err).not.toContain('geheim12');
});

test('ends a cosign that hangs and ignores signals, and says so', async () => {
  await using at = await ground();
  const { 'checksums.txt': checksums, 'a.json': bundle } = at.paths;
  await at.cosign(0, '', "trap '' TERM; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; done");
  const made = verifyArchive(at.from, archive, 'v2.9.99', { checksums, bundle }, 500);
  await expect(made).rejects.toThrow(
    /^cosign has not ended after 0\.5 s, so the signature of \S+ is not verified; check/,
  );
});

test.each([
  [['--sha256', 'abc'], '--sha256 must be the 64 hexadecimal digits'],
  [['--signature', 'a', '--certificate', 'b'], 'require --checksums, the file that is signed'],
  [['--checksums', 'a', '--signature', 'b'], '--signature and --certificate require each other'],
  [['--checksums', 'a', '--signature', 'b', '--certificate', 'c', '--bundle', 'd'], '--bundle cannot be combined'],
  [['--from', folder, '--sha256', sha256], '--sha256 and --checksums require an archive as --from'],
  [['--image', 'a=latest'], '--image a=latest is not of the form COMPONENT=sha256:DIGEST'],
])('rejects %j as wrong usage', async (args, message) => {
  await using at = await ground();
  expect(await at.make(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

const packed = (...all: Entry[]) => gzipSync(tarOf(all));

test.each<[string, Uint8Array, string]>([
  ['a gzip bomb', gzipSync(Buffer.alloc(200 * 1024 * 1024)), 'the archive unpacks to more than 64 MiB'],
  ['17 MiB', Buffer.alloc(17 * 1024 * 1024), 'the archive is larger than 16 MiB'],
  ['a link', packed({ name: 'rbac.yaml', type: '2' }), '"rbac.yaml" is neither a file nor a folder'],
  [
    'a size beyond the end',
    packed({ name: 'rbac.yaml', size: '00000777777' }),
    'the archive is damaged: Tar archive is truncated',
  ],
  ['a negative size', packed({ name: 'rbac.yaml', size: '-0000000001' }), 'the archive is damaged: Invalid tar number'],
  ['a file twice', packed({ name: 'rbac.yaml' }, { name: 'a/rbac.yaml' }), 'the archive has "rbac.yaml" twice'],
  ['bytes that are no archive', gzipSync(Buffer.alloc(2048, 'x')), 'the archive is damaged: Invalid tar number'],
  ['no gzip', Buffer.from('no archive'), 'incorrect header check'],
])('refuses an archive with %s in one sentence, and writes nothing', async (_, content, problem) => {
  await using at = await ground(content);
  expect(await at.refused()).toBe(
    `shoot-flux distribution: cannot read ${at.from}: ${problem}; pass manifests.tar.gz or a folder.\n`,
  );
});

test.each(['a\nb.yaml', 'a\u001b[2J.yaml', '\u202elmay.yaml', '._rbac.yaml', '-rf.yaml'])(
  'refuses an archive with a file named %j, which would be printed and become a line of the checksums',
  async (name) => {
    await using at = await ground(packed(...entries, { name, content: '' }));
    expect(await at.refused()).toMatch(
      /^shoot-flux distribution: \S+ has a file with the name "[ -~]+", which no Flux release has; pass [^\n]*\n$/,
    );
  },
);

test('unpacks any damaged archive to files of the release, or refuses it', async () => {
  const tar = tarOf(entries);
  const change = fc.tuple(fc.nat(tar.length - 1), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), fc.nat(tar.length), async (changes, cut) => {
      const bytes = Buffer.from(tar);
      for (const [at, value] of changes) bytes[at] = value;
      for (const damaged of [bytes, bytes.subarray(0, cut)]) {
        try {
          for (const { name } of await unpack(gzipSync(damaged))) expect(name).not.toMatch(/[/\\]/);
        } catch (error) {
          expect((error as Error).message).toMatch(/^(the archive|")/);
        }
      }
    }),
    { seed: 20_261_122, numRuns: 30 },
  );
});

test('unpacks an archive whose files have times and comments of their own', async () => {
  const pax: Entry[] = [
    { name: 'pax_global_header', type: 'g', content: '52 comment=0123456789012345678901234567890123456789\n' },
    { name: 'PaxHeader/rbac.yaml', type: 'x', content: '27 mtime=1763942400.123456\n' },
    { name: 'rbac.yaml', content: 'kind: A' },
  ];
  expect(await unpack(packed(...pax))).toEqual([{ name: 'rbac.yaml', text: 'kind: A' }]);
});

const components = names.map((name) => name.replace('.yaml', '')).filter((name) => name.endsWith('-controller'));
const digest = `sha256:${'a'.repeat(64)}`;
/** Digests of all images; those of the first component are changed. */
const kustomization = (change: object = {}) => {
  const images = components.map((name) => ({ name: `ghcr.io/fluxcd/${name}`, newTag: 'stand-in', digest }));
  return JSON.stringify({ images: [{ ...images[0], ...change }, ...images.slice(1)] });
};

test('pins the images by digest, renders them, and lists them with their names in a mirror', async () => {
  await using at = await ground();
  await writeFile(at.paths['a.json'], kustomization());
  expect(await at.make('--digests', at.paths['a.json'])).toMatchObject({
    code: 0,
    err: expect.stringContaining('created with pinned images'),
  });
  const release = await openDistribution(at.target).release('v2.9.99');
  expect(release.imageDigests).toEqual(Object.fromEntries(components.map((name) => [name, digest])));
  const { out } = await shootFlux(['render', '--flux-distribution', at.target]);
  expect(out).toContain(`image: ghcr.io/fluxcd/source-controller:stand-in@${digest}`);
  expect(out).not.toMatch(/image: \S+:stand-in$/m);
  const inspected = await shootFlux(['distribution', 'inspect', '--flux-distribution', at.target]);
  expect(inspected.out).toContain('checksums verified, images pinned');
  const images = async (...args: string[]) =>
    (await shootFlux(['distribution', 'images', '--flux-distribution', at.target, ...args])).out;
  expect(await images('--to', 'registry.example.com/mirror', '--version', 'v2.9.99')).toContain(
    `ghcr.io/fluxcd/source-controller@${digest} registry.example.com/mirror/source-controller:stand-in\n`,
  );
  expect(JSON.parse(await images('--json', '--registry', 'quay.example.com/flux'))).toContainEqual({
    ...{ version: 'v2.9.99', component: 'source-controller', digest },
    source: `quay.example.com/flux/source-controller@${digest}`,
  });
});

test('takes digests as options, of which the last one counts', async () => {
  await using at = await ground();
  const last = `sha256:${'b'.repeat(64)}`;
  const images = [...components.map((name) => `${name}=${digest}`), `source-controller=${last}`];
  expect(await at.make(...images.flatMap((image) => ['--image', image]))).toMatchObject({ code: 0 });
  const { imageDigests } = await openDistribution(at.target).release('v2.9.99');
  expect(imageDigests?.['source-controller']).toBe(last);
});

test.each([
  [
    'another tag',
    kustomization({ newTag: 'v0.0.1' }),
    /belongs to v0\.0\.1, but Flux v2\.9\.99 has stand-in; use the digests of this release/,
  ],
  [
    'a component too few',
    kustomization({ name: 'source-controller' }),
    /helm-controller of Flux v2\.9\.99 would not be pinned; add a digest/,
  ],
  [
    'an unknown component',
    kustomization({ name: 'x/other' }),
    /other is not a component of Flux v2\.9\.99; its components are helm-controller/,
  ],
  ['no digest', kustomization({ digest: 'latest' }), /has no list "images" with name and digest/],
  ['no images', '{}', /has no list "images" with name and digest/],
])('refuses digests with %s', async (_, text, message) => {
  await using at = await ground();
  await writeFile(at.paths['a.json'], text);
  expect(await at.refused('--digests', at.paths['a.json'])).toMatch(message);
});
