import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { distributionAt, openDistribution } from './distribution.ts';
import {
  CHECKSUMS,
  checksumText,
  IMAGE_DIGESTS,
  RELEASE_JSON,
  readReleaseFiles,
  releaseJson,
} from './release-files.ts';
import { standIn } from './testing.ts';

/** Writes the checksums of the files that a release folder has now. */
async function seal(release: string): Promise<void> {
  const others = (await readdir(release)).filter((name) => name === RELEASE_JSON || name === IMAGE_DIGESTS).sort();
  const rest = await Promise.all(
    others.reverse().map(async (name) => ({ name, text: await readFile(join(release, name), 'utf8') })),
  );
  await writeFile(join(release, CHECKSUMS), checksumText([...(await readReleaseFiles(release)), ...rest]));
}

/** Creates a distribution of releases with these files and their checksums, which is removed afterwards. */
async function folder(releases: Record<string, Record<string, string>>) {
  const dir = await mkdtemp(join(tmpdir(), 'distribution-'));
  for (const [version, files] of Object.entries(releases)) {
    await mkdir(join(dir, version));
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, version, name), text);
    await seal(join(dir, version));
  }
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

const rbac = 'apiVersion: v1\nkind: ClusterRole\nmetadata:\n  name: a\n';

test('lists version folders, newest first, and ignores everything else', async () => {
  await using distribution = await folder({ 'v2.9.4': {}, 'v2.10.0': {}, 'v2.9.10': {}, drafts: {} });
  await writeFile(join(distribution.dir, 'v2.9.4-image-digests.yaml'), '');
  expect(await openDistribution(distribution.dir).versions()).toEqual(['v2.10.0', 'v2.9.10', 'v2.9.4']);
});

test('reads a release once, with its files by name and a digest', async () => {
  const distribution = openDistribution(standIn.folder);
  const release = await distribution.release(standIn.version);
  expect([...release.files.keys()]).toEqual([
    ...['helm-controller', 'kustomize-controller', 'notification-controller', 'policies', 'rbac', 'source-controller'],
  ]);
  expect(release.files.get('policies')).toMatchObject([{ kind: 'NetworkPolicy', metadata: { name: 'allow-egress' } }]);
  expect(release.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(await distribution.release(standIn.version)).toBe(release);
  expect(distributionAt(standIn.folder)).toBe(distributionAt(standIn.folder));
});

test('lists the available versions if a version is missing', async () => {
  await using distribution = await folder({ 'v2.9.4': {}, 'v2.8.8': {} });
  await expect(openDistribution(distribution.dir).release('v2.9.5')).rejects.toThrow(
    'configuration: flux.version resolves to Flux v2.9.5, which is not in the distribution; available releases are v2.9.4, v2.8.8',
  );
});

test('explains the required layout if the folder is missing', async () => {
  await expect(openDistribution('/nowhere').versions()).rejects.toThrow(
    /^cannot read Flux distribution \/nowhere: folder not found; use a folder with one subfolder per release\.$/,
  );
});

test.each([
  ['kind: ClusterRole\n', 'a document is not a Kubernetes object'],
  ['- a\n', 'a document is not a Kubernetes object'],
  ['a: b: c\n', 'Nested mappings are not allowed in compact mappings at line 1, column 4; copy'],
])('rejects %j as a file of a release', async (text, why) => {
  await using distribution = await folder({ 'v2.9.4': { 'rbac.yaml': text } });
  await expect(openDistribution(distribution.dir).release('v2.9.4')).rejects.toThrow(`rbac.yaml: ${why}`);
});

test('names files that differ from their checksums, and reads them once they are repaired', async () => {
  await using distribution = await folder({ 'v2.9.4': { 'rbac.yaml': rbac, 'policies.yaml': rbac } });
  const release = join(distribution.dir, 'v2.9.4');
  await writeFile(join(release, 'rbac.yaml'), rbac.replace('a', 'b'));
  await writeFile(join(release, 'more.yaml'), rbac);
  const opened = openDistribution(distribution.dir);
  await expect(opened.release('v2.9.4')).rejects.toThrow(
    /^Flux release .*v2\.9\.4: rbac\.yaml, more\.yaml differ from SHA256SUMS; restore the release, or delete the folder/,
  );
  await rm(join(release, 'more.yaml'));
  await writeFile(join(release, 'rbac.yaml'), rbac);
  expect((await opened.release('v2.9.4')).files.size).toBe(2);
});

test('reads the objects from release.json, with the digest of the YAML', async () => {
  await using distribution = await folder({ 'v1.0.0': { 'rbac.yaml': rbac }, 'v2.0.0': { 'rbac.yaml': rbac } });
  const release = join(distribution.dir, 'v2.0.0');
  const json = await releaseJson(release, await readReleaseFiles(release));
  await writeFile(join(release, RELEASE_JSON), json.text.replace('"name":"a"', '"name":"from JSON"'));
  await seal(release);
  const opened = openDistribution(distribution.dir);
  const [plain, prepared] = [await opened.release('v1.0.0'), await opened.release('v2.0.0')];
  expect(prepared.digest).toBe(plain.digest);
  expect(prepared.files.get('rbac')).toMatchObject([{ metadata: { name: 'from JSON' } }]);
});

test('ignores a release.json that was made from other YAML', async () => {
  await using distribution = await folder({ 'v2.9.4': { 'rbac.yaml': rbac } });
  const release = join(distribution.dir, 'v2.9.4');
  const json = await releaseJson(release, await readReleaseFiles(release));
  await writeFile(join(release, RELEASE_JSON), json.text);
  await writeFile(join(release, 'rbac.yaml'), rbac.replace('name: a', 'name: b'));
  await seal(release);
  const { files } = await openDistribution(distribution.dir).release('v2.9.4');
  expect(files.get('rbac')).toMatchObject([{ metadata: { name: 'b' } }]);
});

test('refuses a release.json that is not JSON', async () => {
  await using distribution = await folder({ 'v2.9.4': { 'rbac.yaml': rbac, [RELEASE_JSON]: '{' } });
  await expect(openDistribution(distribution.dir).release('v2.9.4')).rejects.toThrow(
    /v2\.9\.4: release\.json: .*JSON.*; delete it, or run "distribution make" again\.$/,
  );
});

test('refuses a release without checksums, and says how to get them', async () => {
  await using distribution = await folder({ 'v2.9.4': { 'rbac.yaml': rbac } });
  await rm(join(distribution.dir, 'v2.9.4', CHECKSUMS));
  await expect(openDistribution(distribution.dir).release('v2.9.4')).rejects.toThrow(
    /v2\.9\.4 has no SHA256SUMS, so its files cannot be verified; delete the folder and run "distribution make" with the files of the release\.$/,
  );
});

test('reads pinned images, which change the digest of the release and are covered by its checksums', async () => {
  const pins = { 'source-controller': `sha256:${'1'.repeat(64)}` };
  await using distribution = await folder({
    'v1.0.0': { 'rbac.yaml': rbac },
    'v2.0.0': { 'rbac.yaml': rbac, [IMAGE_DIGESTS]: JSON.stringify(pins) },
  });
  const opened = openDistribution(distribution.dir);
  const [plain, pinned] = [await opened.release('v1.0.0'), await opened.release('v2.0.0')];
  expect(plain.imageDigests).toBeUndefined();
  expect(pinned.imageDigests).toEqual(pins);
  expect(pinned.digest).not.toBe(plain.digest);
  await writeFile(join(distribution.dir, 'v2.0.0', IMAGE_DIGESTS), JSON.stringify({}));
  await expect(openDistribution(distribution.dir).release('v2.0.0')).rejects.toThrow(
    'image-digests.json differs from SHA256SUMS',
  );
});

test('refuses YAML whose aliases stand for more values than fit into memory, in one sentence', async () => {
  const letters = [...'bcdefghij'];
  const tenfold = letters.map((name, index) => {
    const former = letters[index - 1] ?? 'a';
    return `${name}: &${name} [${Array(9).fill(`*${former}`).join(',')}]\n`;
  });
  await using distribution = await folder({
    'v2.9.4': { 'bomb.yaml': `${rbac}a: &a [x,x,x,x,x,x,x,x,x]\n${tenfold.join('')}` },
  });
  await expect(openDistribution(distribution.dir).release('v2.9.4')).rejects.toThrow(
    /^Flux release \S+v2\.9\.4: bomb\.yaml: Excessive alias count .*; copy the file from the release again\.$/,
  );
});
