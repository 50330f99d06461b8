import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorMessage, fileProblem, ShootFluxError } from '../../shared/errors.ts';
import { entriesAt, textAt } from '../../shared/shapes.ts';
import { download, RefusedError } from './download.ts';
import type { Variables } from './option.ts';

/** An artifact in a registry, by its digest. */
export interface Artifact {
  /** With the port. */
  host: string;
  repository: string;
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
}

/** As container tools have it: only a registry on this machine speaks HTTP. */
const isLocal = (host: string) => /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(host);

/** A manifest has less than 1 KB; a distribution with 29 releases 4 MB. */
const MOST_MIB = { manifests: 1, blobs: 16 } as const;

/**
 * Reads the only layer of an artifact. What the registry answers is compared with the digest, whoever has answered.
 * @throws ShootFluxError that says why not
 */
export async function pullLayer(artifact: Artifact, environment: Variables): Promise<Buffer> {
  const name = `oci://${artifact.host}/${artifact.repository}@${artifact.digest}`;
  const read = readerOf(artifact, environment);
  try {
    const manifest: unknown = JSON.parse((await read('manifests', artifact.digest)).toString('utf8'));
    const [layer, ...more] = entriesAt(manifest, 'layers');
    const digest = textAt(layer, 'digest');
    if (digest === undefined || more.length > 0) throw new Error('it is not what "distribution push" has pushed');
    return await read('blobs', digest);
  } catch (error) {
    const why = errorMessage(error).replace(/\.$/, '');
    throw new ShootFluxError(
      `cannot read ${name}: ${why}; check the name, the network, and the credentials in config.json of DOCKER_CONFIG.`,
    );
  }
}

/** Returns a function that reads something by its digest, with the token that the registry asks for. */
function readerOf({ host, repository }: Artifact, environment: Variables) {
  let authorization: string | undefined;
  return async (kind: keyof typeof MOST_MIB, digest: string): Promise<Buffer> => {
    const url = `${isLocal(host) ? 'http' : 'https'}://${host}/v2/${repository}/${kind}/${digest}`;
    const get = () => download(url, MOST_MIB[kind], undefined, { accept: ACCEPTED, ...authorized(authorization) });
    const content = await get().catch(async (error: unknown) => {
      if (!(error instanceof RefusedError) || error.status !== 401 || authorization !== undefined) throw error;
      authorization = await authorizationFor(error.challenge, host, environment);
      return get();
    });
    if (`sha256:${hash('sha256', content)}` === digest) return content;
    throw new Error(`what the registry answers for ${digest} is something else`);
  };
}

/** crane writes the first one; registries may answer with another one without it. */
const ACCEPTED = 'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json';

const authorized = (authorization: string | undefined) => (authorization === undefined ? {} : { authorization });

/** Returns the header that a challenge asks for: the credentials, or a token of the server that it names. */
async function authorizationFor(challenge: string, host: string, environment: Variables): Promise<string> {
  const credentials = await credentialsFor(host, environment);
  const { realm, ...parameters } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
  );
  if (!/^bearer /i.test(challenge) || realm === undefined) {
    if (credentials === undefined) throw new Error('the registry asks for credentials');
    return credentials;
  }
  const url = new URL(realm);
  // It gets the credentials.
  if (url.protocol !== 'https:' && !isLocal(url.host))
    throw new Error(`its tokens come from ${url.origin}, without TLS`);
  for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  const answer: unknown = JSON.parse(`${await download(url.href, 1, undefined, authorized(credentials))}`);
  const token = textAt(answer, 'token') ?? textAt(answer, 'access_token');
  if (token === undefined) throw new Error(`${url.origin} gives no token`);
  return `Bearer ${token}`;
}

/** Returns the credentials that `docker login`, `crane auth login` or a mounted pull secret have left, without helpers. */
async function credentialsFor(host: string, { DOCKER_CONFIG }: Variables): Promise<string | undefined> {
  const file = join(DOCKER_CONFIG ?? join(homedir(), '.docker'), 'config.json');
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new Error(`cannot read ${file}: ${fileProblem(error)}`);
  });
  const auth = textAt(JSON.parse(text), 'auths', host, 'auth');
  return auth && `Basic ${auth}`;
}
