import { hash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { tarball } from '../gardener/registration/chart-archive.ts';
import { distributionFolder } from './distribution-oci.ts';
import { files, shootFlux } from './testing.ts';

const digestOf = (content: Buffer) => `sha256:${hash('sha256', content)}`;

/** Serves contents by their digests; what `answer` takes, it answers itself. */
async function startRegistry(answer: (...args: Parameters<RequestListener>) => boolean = () => false) {
  const contents = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.authorization ?? 'anonymous'}`);
    if (answer(request, response)) return;
    const content = contents.get(/[^/]+$/.exec(request.url ?? '')?.[0] ?? '');
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const add = (content: Buffer) => {
    contents.set(digestOf(content), content);
    return digestOf(content);
  };
  return {
    ...{ host, requests, contents },
    /** Adds an artifact with these layers. @returns its name */
    push(...layers: Buffer[]): string {
      const manifest = {
        schemaVersion: 2,
        layers: layers.map((layer) => ({ digest: add(layer), size: layer.length })),
      };
      return `oci://${host}/flux/distribution@${add(Buffer.from(JSON.stringify(manifest)))}`;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const release = join(standIn.folder, standIn.version);
const layer = await tarball(
  Object.fromEntries(
    await Promise.all(
      (await readdir(release)).map(async (name) => [`${standIn.version}/${name}`, await readFile(join(release, name))]),
    ),
  ),
);

let place: Awaited<ReturnType<typeof files>>;
let registry: Awaited<ReturnType<typeof startRegistry>>;
beforeEach(async () => {
  place = await files({ 'config.json': '{}' });
});
afterEach(async () => {
  await registry.close();
  await place[Symbol.asyncDispose]();
});

const cache = () => join(place.dir, 'cache');
const pull = (name: string) =>
  distributionFolder({ 'flux-distribution': name, 'distribution-cache': cache() }, { DOCKER_CONFIG: place.dir });

describe('a distribution in a registry', () => {
  it('is pulled once, and then read without the network', async () => {
    registry = await startRegistry();
    const name = registry.push(layer);
    const options = ['--flux-distribution', name, '--distribution-cache', cache()];
    const inspected = await shootFlux(['distribution', 'inspect', ...options], '', { DOCKER_CONFIG: place.dir });
    expect(inspected).toEqual({ code: 0, err: '', out: expect.stringContaining(`${standIn.version}  sha256 `) });
    expect(registry.requests).toHaveLength(2);
    const images = await shootFlux(['distribution', 'images', ...options]);
    expect(images.out).toContain('ghcr.io/fluxcd/source-controller');
    await registry.close();
    expect(await shootFlux(['distribution', 'inspect', ...options])).toEqual(inspected);
    expect(await readdir(cache())).toEqual([name.slice(name.indexOf('@') + 1).replace(':', '-')]);
  });

  it('may be pulled by two processes at a time', async () => {
    registry = await startRegistry();
    const name = registry.push(layer);
    const [one, other] = await Promise.all([pull(name), pull(name)]);
    expect(one).toBe(other);
    expect(await readdir(cache())).toHaveLength(1);
  });

  it('that was changed is refused, manifest and layer, and leaves nothing', async () => {
    registry = await startRegistry();
    const name = registry.push(layer);
    for (const [digest, content] of [...registry.contents].toReversed()) {
      const changed = Buffer.from(content);
      changed.writeUInt8(changed.readUInt8(40) ^ 1, 40);
      registry.contents.set(digest, changed);
      await expect(pull(name)).rejects.toThrow(
        `cannot read ${name}: what the registry answers for ${digest} is something else; check the name`,
      );
      registry.contents.set(digest, content);
    }
    await expect(readdir(cache())).rejects.toThrow('ENOENT');
    await pull(name);
  });

  it.each<[string, () => Promise<Buffer[]>, string]>([
    ['two layers', async () => [layer, layer], 'it is not what "distribution push" has pushed'],
    ['no layer', async () => [], 'it is not what "distribution push" has pushed'],
    ['no archive', async () => [Buffer.from('text')], 'incorrect header check'],
    [
      'a file outside',
      async () => [await tarball({ '../v2.9.4/rbac.yaml': Buffer.from('') })],
      'no file of a Flux release',
    ],
    [
      'another file',
      async () => [await tarball({ 'etc/passwd': Buffer.from('') })],
      '"etc/passwd" is no file of a Flux',
    ],
    ['too much', async () => [await tarball({ 'v2.9.4/a.yaml': Buffer.alloc(65 * 1024 * 1024) })], 'more than 64 MiB'],
    ['a large layer', async () => [Buffer.alloc(17 * 1024 * 1024)], 'it is larger than 16 MiB'],
  ])('with %s is refused', async (_, layers, sentence) => {
    registry = await startRegistry();
    await expect(pull(registry.push(...(await layers())))).rejects.toThrow(sentence);
    await expect(readdir(cache())).rejects.toThrow('ENOENT');
  });

  it('that does not exist, or whose registry does not answer, is an error with its name', async () => {
    registry = await startRegistry();
    const name = registry.push(layer);
    registry.contents.clear();
    await expect(pull(name)).rejects.toThrow(`cannot read ${name}: HTTP 404; check the name, the network,`);
    await registry.close();
    await expect(pull(name)).rejects.toThrow(/: connect ECONNREFUSED .*; check the name, the network,/);
  });
});

describe('a registry that asks for a token', () => {
  const start = (scheme = 'Bearer') =>
    startRegistry((request, response) => {
      const { url = '', headers } = request;
      if (url.startsWith('/token?')) {
        response.end(JSON.stringify({ token: `of ${url}` }));
        return true;
      }
      if (headers.authorization?.startsWith(scheme)) return false;
      const realm = `${scheme} realm="http://${headers.host}/token",service="ghcr.io",scope="repository:flux/distribution:pull"`;
      response.writeHead(401, { 'www-authenticate': realm }).end();
      return true;
    });
  const login = (auth: object) => writeFile(join(place.dir, 'config.json'), JSON.stringify(auth));
  const query = '/token?service=ghcr.io&scope=repository%3Aflux%2Fdistribution%3Apull';

  it('gives one to everybody for what is public', async () => {
    registry = await start();
    await pull(registry.push(layer));
    const [first, token, ...authorized] = registry.requests;
    expect(first).toMatch(/ anonymous$/);
    expect(token).toBe(`${query} anonymous`);
    expect(authorized).toEqual(Array(2).fill(expect.stringMatching(/ Bearer of \/token/)));
  });

  it('gives one for the credentials of the machine', async () => {
    registry = await start();
    await login({ auths: { [registry.host]: { auth: 'cm9ib3Q6cGFzcw==' }, other: { auth: 'b3RoZXI=' } } });
    await pull(registry.push(layer));
    expect(registry.requests[1]).toBe(`${query} Basic cm9ib3Q6cGFzcw==`);
  });

  it('may ask for the credentials themselves', async () => {
    registry = await start('Basic');
    const name = registry.push(layer);
    await expect(pull(name)).rejects.toThrow(': the registry asks for credentials; check');
    await login({ auths: { [registry.host]: { auth: 'cm9ib3Q6cGFzcw==' } } });
    await pull(name);
    expect(registry.requests.at(-1)).toMatch(/ Basic cm9ib3Q6cGFzcw==$/);
  });

  it('does not get the credentials sent to another server without TLS', async () => {
    registry = await startRegistry((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="http://elsewhere.example/token"' }).end();
      return true;
    });
    await login({ auths: { [registry.host]: { auth: 'cm9ib3Q6cGFzcw==' } } });
    await expect(pull(registry.push(layer))).rejects.toThrow(
      ': its tokens come from http://elsewhere.example, without TLS; check',
    );
  });

  it('that refuses the token as well is asked no further', async () => {
    registry = await startRegistry(({ url = '', headers }, response) => {
      if (url === '/token') response.end('{"access_token": "none"}');
      else response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${headers.host}/token"` }).end();
      return true;
    });
    await expect(pull(registry.push(layer))).rejects.toThrow(': HTTP 401; check');
    expect(registry.requests).toHaveLength(3);
  });
});

describe('the name of a distribution', () => {
  beforeEach(async () => {
    registry = await startRegistry();
  });

  it('may be that of a folder, as it is', async () => {
    expect(await distributionFolder({ 'flux-distribution': './distribution' }, {})).toBe('./distribution');
  });

  it.each(['oci://example.com/flux:v1', 'oci://example.com@sha256:00', `oci://example.com/A@sha256:${'0'.repeat(64)}`])(
    '%s has no digest, or none that can be right',
    async (name) => {
      await expect(pull(name)).rejects.toThrow(`${name} is not of the form oci://REGISTRY/REPOSITORY@sha256:DIGEST`);
    },
  );

  it('in a registry needs a cache', async () => {
    const name = registry.push(layer);
    await expect(distributionFolder({ 'flux-distribution': name }, {})).rejects.toThrow(
      'requires --distribution-cache',
    );
    await writeFile(cache(), '');
    await expect(pull(name)).rejects.toThrow(`cannot write to ${cache()}: `);
    await rm(cache());
  });

  it.each(['make', 'push'])('%s takes a folder', async (action) => {
    const ran = await shootFlux(['distribution', action, '--flux-distribution', registry.push(layer)]);
    expect(ran).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${action} needs a folder as --flux-distribution`),
    });
  });

  it.each(['registry.example.com/flux:v1', 'oci://registry.example.com/flux'])(
    'is refused by push as %s',
    async (to) => {
      const ran = await shootFlux(['distribution', 'push', '--flux-distribution', standIn.folder, '--to', to]);
      expect(ran).toMatchObject({
        code: 2,
        err: expect.stringContaining('is not of the form oci://REGISTRY/REPOSITORY:TAG'),
      });
    },
  );
});
