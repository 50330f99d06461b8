import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileProblem, ShootFluxError } from '../errors.ts';
import type { Connection, TokenSource } from './connection.ts';
import { tokenFile } from './token-file.ts';

/** The fields of a kubeconfig that are read. */
interface Kubeconfig {
  'current-context'?: string;
  contexts?: { name?: string; context?: { cluster?: string; user?: string } }[];
  clusters?: { name?: string; cluster?: ClusterEntry }[];
  users?: { name?: string; user?: UserEntry }[];
}

interface ClusterEntry {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
}

interface UserEntry {
  token?: string;
  tokenFile?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  username?: string;
  as?: string;
  exec?: unknown;
  'auth-provider'?: unknown;
}

/**
 * Returns the connection of a kubeconfig file's current context; its paths are relative to the file.
 * @param asksPlugin false: without the credentials of an `exec` or `auth-provider`, which may be away for a while
 */
export async function kubeconfigFile(path: string, asksPlugin = true): Promise<Connection> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new ShootFluxError(`kubeconfig ${path}: ${fileProblem(error)}; check the path`);
  }
  return kubeconfigConnection(text, `kubeconfig ${path}`, dirname(resolve(path)), asksPlugin);
}

/**
 * Returns the connection of a kubeconfig's current context.
 * @param text YAML or JSON
 * @param source names it in errors, which never quote the text
 * @param directory the base of its paths; absent for a kubeconfig from a Secret, which may name no file and no command
 */
export async function kubeconfigConnection(
  text: string,
  source: string,
  directory?: string,
  asksPlugin = true,
): Promise<Connection> {
  const { cluster, user } = currentContext(await parse(text, source), source);
  if (cluster.server === undefined)
    throw new ShootFluxError(`${source}: the cluster of the current context has no server`);
  refuseUnsupported(cluster, user, source);
  const read = (file: string | undefined, data: string | undefined) => content(file, data, source, directory);
  const [ca, cert, key] = await Promise.all([
    read(cluster['certificate-authority'], cluster['certificate-authority-data']),
    read(user['client-certificate'], user['client-certificate-data']),
    read(user['client-key'], user['client-key-data']),
  ]);
  const connection: Connection = {
    server: cluster.server,
    ca,
    cert,
    key,
    token: tokenOf(user, source, directory),
    serverName: cluster['tls-server-name'],
    insecure: cluster['insecure-skip-tls-verify'],
  };
  if (user.exec === undefined && user['auth-provider'] === undefined) return connection;
  if (directory === undefined) throw outOfPlace(source, 'a command');
  if (!asksPlugin) return connection;
  const { pluginConnection } = await import('./kubeconfig-plugin.ts');
  return pluginConnection(text, source, connection);
}

async function parse(text: string, source: string): Promise<Kubeconfig> {
  try {
    // JSON is YAML too, but needs no parser to be loaded.
    const value = text.trimStart().startsWith('{')
      ? JSON.parse(text)
      : (await import('./parse-yaml.ts')).parseYaml(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // The error is dropped: both parsers quote the text, which contains credentials.
  }
  throw new ShootFluxError(`${source} is not a kubeconfig in YAML or JSON`);
}

function currentContext(config: Kubeconfig, source: string): { cluster: ClusterEntry; user: UserEntry } {
  const wanted = config['current-context'];
  if (!wanted) throw new ShootFluxError(`${source} has no current-context; name one of its contexts there`);
  const context = config.contexts?.find(({ name }) => name === wanted)?.context;
  if (context === undefined) throw new ShootFluxError(`${source}: current-context ${wanted} is not among its contexts`);
  const cluster = config.clusters?.find(({ name }) => name === context.cluster)?.cluster;
  if (cluster === undefined)
    throw new ShootFluxError(`${source}: cluster ${context.cluster} is not among its clusters`);
  const user = config.users?.find(({ name }) => name === context.user)?.user;
  if (user === undefined && context.user) {
    throw new ShootFluxError(`${source}: user ${context.user} is not among its users`);
  }
  return { cluster, user: user ?? {} };
}

function refuseUnsupported(cluster: ClusterEntry, user: UserEntry, source: string): void {
  const unsupported = [cluster['proxy-url'] && 'proxy-url', user.username && 'username', user.as && 'as'].find(
    (field) => field,
  );
  if (unsupported === undefined) return;
  throw new ShootFluxError(`${source}: ${unsupported} is not supported; use a token, a client certificate or exec`);
}

async function content(
  file: string | undefined,
  data: string | undefined,
  source: string,
  directory: string | undefined,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  if (!file) return undefined;
  if (directory === undefined) throw outOfPlace(source, `the file ${file}`);
  try {
    return await readFile(resolve(directory, file), 'utf8');
  } catch (error) {
    throw new ShootFluxError(`${source}: cannot read ${file}: ${fileProblem(error)}; check the path`);
  }
}

/** As in kubectl, a token file wins over a token. */
function tokenOf(user: UserEntry, source: string, directory: string | undefined): TokenSource | undefined {
  if (!user.tokenFile) return user.token || undefined;
  if (directory === undefined) throw outOfPlace(source, `the token file ${user.tokenFile}`);
  return tokenFile(resolve(directory, user.tokenFile));
}

function outOfPlace(source: string, what: string): ShootFluxError {
  return new ShootFluxError(
    `${source} refers to ${what}, which a kubeconfig from a Secret must not; embed the credentials`,
  );
}
