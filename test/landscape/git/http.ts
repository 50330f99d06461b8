import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { gitEnvironment, type Repositories } from './repositories.ts';
import type { Access } from './ssh.ts';

/** Serves Git's smart HTTP for reading, to everybody, with `git http-backend`. */
export function createHttpServer(repositories: Repositories, log: (access: Access) => void): Server {
  return createServer((request, response) => answer(repositories, log, request, response));
}

function answer(
  repositories: Repositories,
  log: (access: Access) => void,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const [, repository = '', service = ''] =
    /^\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack)$/.exec(url.pathname) ?? [];
  if (!repositories.has(repository)) refuse(response, 404);
  else if (url.searchParams.get('service') === 'git-receive-pack') refuse(response, 403);
  else {
    log({ protocol: 'http', repository, allowed: true });
    backend(repositories.root, `/${repository}.git/${service}`, url, request, response);
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
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
