import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Access } from './access-log.ts';
import { gitEnvironment, type Repositories } from './repositories.ts';

/** Credentials that a private repository requires over HTTP. */
export interface Credentials {
  username: string;
  password: string;
}

export interface HttpOptions {
  repositories: Repositories;
  /** Absent: the repository is public. */
  credentials(repository: string): Credentials | undefined;
  log(access: Access): void;
}

/** Serves Git's smart HTTP for reading, with `git http-backend`. */
export function createHttpServer(options: HttpOptions): Server {
  return createServer((request, response) => answer(options, request, response));
}

function answer(options: HttpOptions, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const [, repository = '', service = ''] =
    /^\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack)$/.exec(url.pathname) ?? [];
  const refusal = refusalOf(options, request, url, repository);
  if (refusal === undefined)
    backend(options.repositories.root, `/${repository}.git/${service}`, url, request, response);
  else refuse(response, refusal);
}

/** Returns the status of a refusal; undefined: the request is allowed. */
function refusalOf(options: HttpOptions, request: IncomingMessage, url: URL, repository: string): number | undefined {
  if (!options.repositories.has(repository)) return 404;
  const given = basicCredentials(request.headers.authorization);
  const wanted = options.credentials(repository);
  const allowed = wanted === undefined || (given?.username === wanted.username && given.password === wanted.password);
  options.log({ protocol: 'http', repository, who: given?.username, allowed });
  if (!allowed) return 401;
  return url.searchParams.get('service') === 'git-receive-pack' ? 403 : undefined;
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="git"' } : {}).end();
}

function basicCredentials(header: string | undefined): Credentials | undefined {
  const encoded = /^Basic (.+)$/i.exec(header ?? '')?.[1];
  const [, username, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  return username === undefined || password === undefined ? undefined : { username, password };
}

/** Runs one CGI request (RFC 3875). */
function backend(root: string, path: string, url: URL, request: IncomingMessage, response: ServerResponse): void {
  const header = (name: string) => request.headers[name]?.toString() ?? '';
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      ...gitEnvironment(),
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: path,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: header('content-type'),
      HTTP_CONTENT_ENCODING: header('content-encoding'),
      GIT_PROTOCOL: header('git-protocol'),
      REMOTE_ADDR: request.socket.remoteAddress,
    },
  });
  child.on('error', () => refuse(response, 500));
  request.pipe(child.stdin.on('error', () => {}));
  let head: Buffer | undefined = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (head !== undefined) head = Buffer.concat([head, chunk]);
    const end = head?.indexOf('\r\n\r\n') ?? 0;
    if (end < 0) return;
    if (head !== undefined) writeHead(response, head.subarray(0, end).toString('latin1'));
    response.write(head?.subarray(end + 4) ?? chunk);
    head = undefined;
  });
  child.on('close', () => response.end());
}

function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
