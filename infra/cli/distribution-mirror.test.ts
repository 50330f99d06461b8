import { chmod, readFile } from 'node:fs/promises';
import { delimiter } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { files, shootFlux } from './testing.ts';

// What crane itself does is in test/real/install/air-gapped.test.ts, with registries.

const ours = `sha256:${'a'.repeat(64)}`;
const other = `sha256:${'b'.repeat(64)}`;
const to = ['--to', 'registry.example.com/fluxcd'];

afterEach(() => {
  vi.unstubAllEnvs();
});

function mirror(...args: string[]) {
  return shootFlux(['distribution', 'mirror', '--flux-distribution', standIn.folder, ...args]);
}

/** Puts a crane in front of the PATH that knows the digest of each source, and answers for the registry as told. */
async function withCrane(registry: string) {
  const script = `#!/bin/sh
echo "$*" >> "\${0%/*}/record"
case "$*" in
*"digest ghcr.io"*) echo ${ours} ;;
*"digest registry"*) ${registry} ;;
esac
`;
  const bin = await files({ crane: script });
  await chmod(bin.paths.crane, 0o755);
  vi.stubEnv('PATH', `${bin.dir}${delimiter}${process.env.PATH}`);
  return { ...bin, calls: async () => (await readFile(`${bin.dir}/record`, 'utf8')).trim().split('\n') };
}

test('lets only the registry speak HTTP, and copies the digest that the tag had', async () => {
  await using crane = await withCrane(`grep -q copy "\${0%/*}/record" && echo ${ours}`);
  expect(await mirror(...to, '--plain-http', '--release', '2.9.99')).toMatchObject({ code: 0 });
  const source = 'ghcr.io/fluxcd/helm-controller:stand-in';
  const target = 'registry.example.com/fluxcd/helm-controller:stand-in';
  expect((await crane.calls()).filter((call) => !/kustomize|notification|source-|image-/.test(call))).toEqual([
    'version',
    `digest ${source}`,
    `--insecure digest ${target}`,
    `--insecure copy ${source}@${ours} ${target}`,
    `--insecure digest ${target}`,
  ]);
});

test('fails where the registry changes an image', async () => {
  await using _ = await withCrane(`echo ${other}`);
  expect(await mirror(...to)).toEqual({
    code: 1,
    out: '',
    err: expect.stringContaining(
      `registry.example.com/fluxcd/helm-controller:stand-in has the digest ${other} instead of ${ours}; name a registry that`,
    ),
  });
});

test('says what to do without crane', async () => {
  vi.stubEnv('PATH', '/nowhere');
  expect(await mirror(...to)).toEqual({
    code: 1,
    out: '',
    err: 'shoot-flux distribution: crane is not installed; install it, and repeat the command.\n',
  });
});

test.each([
  [[], 2, 'option --to PREFIX is required'],
  [['--to', 'https://registry.example.com'], 2, 'has a scheme; remove it, as in ghcr.io/fluxcd'],
  [[...to, '--version', 'v2.9.4'], 2, '--version has no effect on mirror; remove it'],
  [[...to, '--release', 'v1.0.0'], 1, `holds no Flux v1.0.0; it holds ${standIn.version}.`],
])('refuses %j', async (args, code, message) => {
  expect(await mirror(...args)).toMatchObject({ code, err: expect.stringContaining(message) });
});
