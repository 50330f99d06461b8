import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse as parseYaml } from 'yaml';
import * as z from 'zod/mini';
import { fileProblem, ShootFluxError } from '../errors.ts';
import { isRecord } from '../shapes.ts';
import { type Connection, type TokenSource, tokenFile } from './connection.ts';
import { pluginConnection } from './kubeconfig-plugin.ts';

const text = z.nullish(z.string());

/** The fields of a cluster that are read. */
const clusterSchema = z.object({
  ...{ server: text, 'certificate-authority': text, 'certificate-authority-data': text },
  'insecure-skip-tls-verify': z.optional(z.unknown()),
  ...{ 'tls-server-name': text, 'proxy-url': text },
});

/** The fields of a user that are read. */
const userSchema = z.object({
  ...{ token: text, tokenFile: text, username: text, as: text },
  ...{ 'client-certificate': text, 'client-certificate-data': text, 'client-key': text, 'client-key-data': text },
  ...{ exec: z.optional(z.unknown()), 'auth-provider': z.optional(z.unknown()) },
});

type Cluster = z.infer<typeof clusterSchema>;
type User = z.infer<typeof userSchema>;

/**
 * Returns the connection of a kubeconfig file's current context; its paths are relative to the file.
 * @param asksPlugin false: without the credentials of an `exec` or `auth-provider`, which may be away for a while
 */
export async function kubeconfigFile(path: string, asksPlugin = true): Promise<Connection> {
  return kubeconfigConnection(await readText(path), `kubeconfig ${path}`, dirname(resolve(path)), asksPlugin);
}

/**
 * Returns the connection of a context of a kubeconfig file, and its namespace, as kubectl takes them.
 * @param context default: its current context
 */
export async function kubeconfigTarget(
  path: string,
  context?: string,
): Promise<{ connection: Connection; namespace: string | undefined }> {
  const source = `kubeconfig ${path}`;
  const read = parse(await readText(path), source);
  const config = context === undefined ? read : { ...read, 'current-context': context };
  const { namespace } = currentContext(config, source);
  const connection = await kubeconfigConnection(JSON.stringify(config), source, dirname(resolve(path)));
  return { connection, namespace };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ShootFluxError(`kubeconfig ${path}: ${fileProblem(error)}; check the path`);
  }
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
  const { cluster, user } = currentContext(parse(text, source), source);
  if (!cluster.server) throw new ShootFluxError(`${source}: the cluster of the current context has no server`);
  refuseUnsupported(cluster, user, source);
  const read = (file: MaybeText, data: MaybeText) => content(file, data, source, directory);
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
    serverName: cluster['tls-server-name'] ?? undefined,
    insecure: cluster['insecure-skip-tls-verify'] === true || undefined,
  };
  if (user.exec === undefined && user['auth-provider'] === undefined) return connection;
  if (directory === undefined) throw outOfPlace(source, 'a command');
  if (!asksPlugin) return connection;
  return pluginConnection(text, source, connection);
}

type MaybeText = string | null | undefined;

function parse(text: string, source: string): Record<string, unknown> {
  try {
    // JSON is YAML too, but takes much longer to parse as such. Warnings would quote the text.
    const value: unknown = text.trimStart().startsWith('{') ? JSON.parse(text) : parseYaml(text, { logLevel: 'error' });
    if (isRecord(value)) return value;
  } catch {
    // The error is dropped: both parsers quote the text, which contains credentials.
  }
  throw new ShootFluxError(`${source} is not a kubeconfig in YAML or JSON`);
}

function currentContext(config: Record<string, unknown>, source: string) {
  const wanted = config['current-context'];
  if (!wanted) throw new ShootFluxError(`${source} has no current-context; name one of its contexts there`);
  const missing = (what: string, name: unknown, list: string) =>
    new ShootFluxError(`${source}: ${what} ${typeof name === 'string' ? name : '?'} is not among its ${list}`);
  const context = entryOf(config.contexts, wanted)?.context;
  if (!isRecord(context)) throw missing('current-context', wanted, 'contexts');
  const cluster = entryOf(config.clusters, context.cluster)?.cluster;
  if (!isRecord(cluster)) throw missing('cluster', context.cluster, 'clusters');
  const user = entryOf(config.users, context.user)?.user;
  if (!isRecord(user) && context.user) throw missing('user', context.user, 'users');
  const namespace = typeof context.namespace === 'string' && context.namespace !== '' ? context.namespace : undefined;
  return { cluster: read(clusterSchema, cluster, source), user: read(userSchema, user ?? {}, source), namespace };
}

/** Reads the fields of an entry. In place of a text there may be anything, for example `{length: 1000000000}`. */
function read<T>(schema: z.ZodMiniType<T>, entry: unknown, source: string): T {
  const { success, data, error } = schema.safeParse(entry);
  if (success) return data;
  throw new ShootFluxError(`${source}: ${String(error.issues[0]?.path[0])} is not a text; correct it`);
}

/** Returns the entry of a list that has this name. */
function entryOf(list: unknown, name: unknown): Record<string, unknown> | undefined {
  return Array.isArray(list) ? list.filter(isRecord).find((entry) => entry.name === name) : undefined;
}

function refuseUnsupported(cluster: Cluster, user: User, source: string): void {
  const unsupported = [cluster['proxy-url'] && 'proxy-url', user.username && 'username', user.as && 'as'].find(
    (field) => field,
  );
  if (unsupported === undefined) return;
  throw new ShootFluxError(`${source}: ${unsupported} is not supported; use a token, a client certificate or exec`);
}

async function content(
  file: MaybeText,
  data: MaybeText,
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
function tokenOf(user: User, source: string, directory: string | undefined): TokenSource | undefined {
  if (!user.tokenFile) return user.token || undefined;
  if (directory === undefined) throw outOfPlace(source, `the token file ${user.tokenFile}`);
  return tokenFile(resolve(directory, user.tokenFile));
}

function outOfPlace(source: string, what: string): ShootFluxError {
  return new ShootFluxError(
    `${source} refers to ${what}, which a kubeconfig from a Secret must not; embed the credentials`,
  );
}
