import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { standIn } from '../../shared/flux/testing.ts';
import { files, shootFlux } from './testing.ts';

const components = ['helm-controller', 'kustomize-controller', 'notification-controller', 'source-controller'];
const digest = `sha256:${'d'.repeat(64)}`;
const release = join(standIn.folder, standIn.version);
const images = (dir: string, ...args: string[]) =>
  shootFlux(['distribution', 'images', '--flux-distribution', dir, ...args]);

test('lists the images by their tags where digests are unknown', async () => {
  const { code, out, err } = await images(standIn.folder);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(
    out.split('\n').filter((line) => components.some((name) => line.startsWith(`ghcr.io/fluxcd/${name}:`))),
  ).toHaveLength(4);
});

test('lists each image with its name in the mirror, by the digests of the distribution', async () => {
  await using target = await files({});
  const pins = join(target.dir, 'digests.yaml');
  const names = (await images(standIn.folder)).out
    .split('\n')
    .flatMap((line) => line.match(/fluxcd\/([\w-]+):/)?.[1] ?? []);
  await writeFile(pins, stringify({ images: names.map((name) => ({ name: `ghcr.io/fluxcd/${name}`, digest })) }));
  const dir = join(target.dir, 'distribution');
  const make = ['distribution', 'make', '--flux-distribution', dir, '--from', release, '--version', standIn.version];
  expect(await shootFlux([...make, '--digests', pins])).toMatchObject({ code: 0 });
  const { code, out } = await images(dir, '--to', 'registry.example.com/mirror/fluxcd', '--version', standIn.version);
  expect(code).toBe(0);
  const line = out.split('\n').find((each) => each.includes('source-controller'));
  expect(line).toMatch(
    /^ghcr\.io\/fluxcd\/source-controller@sha256:d{64} registry\.example\.com\/mirror\/fluxcd\/source-controller:[\w.-]+$/,
  );
  const json = JSON.parse((await images(dir, '--json', '--registry', 'quay.example.com/flux')).out);
  expect(json).toContainEqual({
    version: standIn.version,
    component: 'source-controller',
    source: `quay.example.com/flux/source-controller@${digest}`,
    digest,
  });
});

test.each([
  [['--version', 'v1.0.0'], 1, `holds no Flux v1.0.0; it holds ${standIn.version}.`],
  [['--to', 'https://registry.example.com'], 2, 'has a scheme; remove it, as in ghcr.io/fluxcd'],
])('refuses %j', async (args, code, message) => {
  const answer = await images(standIn.folder, ...args);
  expect(answer).toMatchObject({ code, err: expect.stringContaining(message) });
});
