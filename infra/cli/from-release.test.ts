import { readdir } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { issueAuthority, issueServing } from '../webhooks/issue-certificates.ts';
import { download } from './download.ts';
import { serveRelease } from './release-testing.ts';
import { files, shootFlux } from './testing.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const make = (dir: string, ...args: string[]) =>
  shootFlux(['distribution', 'make', '--flux-distribution', dir, '--from-release', ...args]);

/** Expects that nothing is made, and returns why. */
async function refused(url: string, ...args: string[]): Promise<string> {
  await using target = await files({});
  const { code, err } = await make(target.dir, 'v2.9.99', '--release-url', url, ...args);
  expect({ code, made: await readdir(target.dir) }).toEqual({ code: 1, made: [] });
  return err.replaceAll(url, 'URL');
}

test.each(['v2.9.99', '2.9.99'])('makes the release %s from what Flux publishes, verified', async (version) => {
  await using releases = await serveRelease();
  await using target = await files({});
  const digest = `source-controller=sha256:${'a'.repeat(64)}`;
  expect(await make(target.dir, version, '--release-url', `${releases.url}/`)).toMatchObject({
    code: 0,
    err: expect.stringMatching(/v2\.9\.99: verified and created with helm-controller/),
  });
  const [made, expected] = [target.dir, standIn.folder].map((dir) => openDistribution(dir).release('v2.9.99'));
  expect(await made).toEqual(await expected);
  const other = join(target.dir, 'other');
  const pinned = await make(other, version, '--release-url', releases.url, '--sha256', releases.sum, '--image', digest);
  expect(pinned.err).toContain('would not be pinned; add a digest');
});

test('says that there is no such release', async () => {
  await using releases = await serveRelease({}, { version: 'v2.9.98' });
  expect(await refused(releases.url)).toBe(
    'shoot-flux distribution: URL/v2.9.99/manifests.tar.gz does not exist; check --release-url, or copy the release there.\n',
  );
});

test('says what to do without a network', async () => {
  const gone = await serveRelease();
  await gone[Symbol.asyncDispose]();
  expect(await refused(gone.url)).toMatch(
    /: cannot download URL\/v2\.9\.99\/manifests\.tar\.gz: .*ECONNREFUSED.*; check the network, or download the files of the release elsewhere and pass them with --from and --checksums\.\n$/,
  );
});

test('refuses an archive that differs from the checksums, from --sha256, or whose signature cannot be verified', async () => {
  await using releases = await serveRelease({ 'manifests.tar.gz': 'other' });
  expect(await refused(releases.url)).toMatch(
    /URL\/v2\.9\.99\/manifests\.tar\.gz has the SHA-256 \w{64}, but URL\/v2\.9\.99\/flux_2\.9\.99_checksums\.txt says \w{64}; download the archive again, and do not use this one\.\n$/,
  );
  await using right = await serveRelease();
  expect(await refused(right.url, '--sha256', '0'.repeat(64))).toContain('but --sha256 says 0000');
  vi.stubEnv('PATH', '/nowhere');
  expect(await refused(right.url, '--bundle', 'a.json')).toContain('cosign is not installed, so the signature cannot');
});

test.each([
  ['it is larger than 16 MiB', 'manifests.tar.gz', Buffer.alloc(16 * 1024 * 1024 + 1)],
  ['it is larger than 1 MiB', 'flux_2.9.99_checksums.txt', Buffer.alloc(1024 * 1024 + 1)],
])('ends where %s', async (why, name, content) => {
  await using releases = await serveRelease({ [name]: content });
  expect(await refused(releases.url)).toContain(`cannot download URL/v2.9.99/${name}: ${why}; check`);
});

test('ends where a server is silent, in the head or the body', async () => {
  await using releases = await serveRelease({ head: () => {}, body: (_, response) => response.write('a') });
  for (const name of ['head', 'body']) {
    await expect(download(`${releases.url}/v2.9.99/${name}`, 1, 300)).rejects.toThrow('it took longer than 0.3 s');
  }
});

test('follows a redirect to https, and no other', async () => {
  const authority = await issueAuthority(new Date());
  const { key, cert } = await issueServing(authority, ['127.0.0.1'], new Date());
  await using secure = await serveRelease(
    {},
    { scheme: 'https', make: (listener) => createSecureServer({ key, cert }, listener) },
  );
  const to = (place: string): Record<string, RequestListener> => ({
    'manifests.tar.gz': (_, response) => {
      response.writeHead(302, { location: `${place}/v2.9.99/manifests.tar.gz` }).end();
    },
  });
  await using outside = await serveRelease();
  await using insecure = await serveRelease(to(outside.url));
  expect(await refused(insecure.url)).toContain(`it is redirected to ${outside.url}, which is not https; check`);
  await using releases = await serveRelease(to(secure.url));
  expect(await refused(releases.url)).toContain('unable to verify');
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  await using target = await files({});
  expect(await make(target.dir, 'v2.9.99', '--release-url', releases.url)).toMatchObject({ code: 0 });
});

test('sends headers to the server of the address, and not where it is redirected to', async () => {
  const seen: (string | undefined)[] = [];
  const authority = await issueAuthority(new Date());
  const { key, cert } = await issueServing(authority, ['127.0.0.1'], new Date());
  const blob: RequestListener = ({ headers }, response) => {
    seen.push(headers.authorization);
    response.end('blob');
  };
  const make = (listener: RequestListener) => createSecureServer({ key, cert }, listener);
  await using storage = await serveRelease({ blob }, { scheme: 'https', make });
  await using registry = await serveRelease({
    blob: ({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(307, { location: `${storage.url}/v2.9.99/blob` }).end();
    },
  });
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const content = await download(`${registry.url}/v2.9.99/blob`, 1, undefined, { authorization: 'Bearer of-registry' });
  expect(`${content}`).toBe('blob');
  expect(seen).toEqual(['Bearer of-registry', undefined]);
});

test.each([
  [['v2.9.99', '--from', 'manifests.tar.gz'], '--from has no effect with --from-release; remove it'],
  [['v2.9.99', '--checksums', 'a'], '--checksums has no effect with --from-release; remove it'],
  [['newest'], '"newest" is not a version such as v2.9.4'],
  [['v2.9.99', '--release-url', 'ftp://a'], '--release-url is not a URL of https or http without credentials'],
  [['v2.9.99', '--release-url', 'https://me:geheim@a'], '--release-url is not a URL of https or http without'],
])('rejects %j as wrong usage', async (args, message) => {
  expect(await make('/nowhere', ...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});

test('wants files without --from-release', async () => {
  const given = ['distribution', 'make', '--flux-distribution', '/nowhere', '--version', 'v2.9.99'];
  for (const more of [
    ['--from', 'https://a'],
    ['--from', 'a', '--checksums', 'https://a'],
  ]) {
    const err = expect.stringContaining('https://a is not a file; download it, or use --from-release');
    expect(await shootFlux([...given, ...more])).toMatchObject({ code: 2, err });
  }
  const err = expect.stringContaining('--release-url has no effect without --from-release; remove it');
  expect(await shootFlux([...given, '--from', 'a', '--release-url', 'https://a'])).toMatchObject({ code: 2, err });
});
