import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { gitEnvironment, type Repositories } from './repositories.ts';
import type { Access } from './ssh.ts';

/** Serves Git's smart HTTP for reading, to everybody. */
export function createHttpServer(repositories: Repositories, log: (access: Access) => void): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const [, repository = '', service] = /^\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack)$/.exec(pathname) ?? [];
    if (!repositories.has(repository)) {
      response.writeHead(404).end();
      return;
    }
    log({ protocol: 'http', repository, allowed: true });
    const protocol = request.headers['git-protocol']?.toString();
    const isAdvertisement = service === 'info/refs';
    response.setHeader('content-type', `application/x-git-upload-pack-${isAdvertisement ? 'advertisement' : 'result'}`);
    // The second version of the protocol leaves this line out.
    if (isAdvertisement && protocol !== 'version=2') response.write('001e# service=git-upload-pack\n0000');
    const mode = isAdvertisement ? ['--stateless-rpc', '--advertise-refs'] : ['--stateless-rpc'];
    const child = spawn('git', ['upload-pack', ...mode, join(repositories.root, `${repository}.git`)], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...gitEnvironment(), GIT_PROTOCOL: protocol },
    });
    const isZipped = request.headers['content-encoding'] === 'gzip';
    (isZipped ? request.pipe(createGunzip()) : request).pipe(child.stdin.on('error', () => {}));
    child.stdout.pipe(response);
  });
}
