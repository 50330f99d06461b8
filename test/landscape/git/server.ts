import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpServer } from './http.ts';
import { fingerprint, type PublicKey, parsePublicLine, publicLine } from './keys.ts';
import { type Files, openRepositories } from './repositories.ts';
import { type Access, createSshServer } from './ssh.ts';

export type { Files } from './repositories.ts';

/** A Git server over smart HTTP and SSH, on 127.0.0.1. */
export type GitServer = Awaited<ReturnType<typeof startGitServer>>;
export type GitRepository = Awaited<ReturnType<GitServer['createRepository']>>;

export async function startGitServer() {
  const repositories = await openRepositories();
  const deployKeys = new Map<string, Set<string>>();
  const accesses: Access[] = [];
  const log = (access: Access) => void accesses.push(access);
  const id = (key: PublicKey) => key.blob.toString('base64');

  const http = createHttpServer(repositories, log);
  const ssh = createSshServer({
    repositories,
    knows: (key) => [...deployKeys.values()].some((keys) => keys.has(id(key))),
    mayRead: (name, key) => deployKeys.get(name)?.has(id(key)) === true,
    log,
  });
  const httpPort = await listen(http);
  const sshPort = await ssh.listen();

  const stop = async () => {
    http.closeAllConnections();
    await Promise.all([new Promise((resolve) => http.close(resolve)), ssh.stop()]);
    await repositories[Symbol.asyncDispose]();
  };
  return {
    /** All requests for repositories. */
    accesses,
    /** The SSH server's line in known_hosts. */
    knownHosts: `[127.0.0.1]:${sshPort} ${publicLine(ssh.hostKey)}`,
    /** `SHA256:…` of the SSH server's host key. */
    hostKeyFingerprint: fingerprint(ssh.hostKey),
    /**
     * Creates a repository that everybody may read over HTTP; over SSH, reading needs a deploy key.
     * @param files the first commit on `main`
     */
    async createRepository(name: string, files: Files) {
      await repositories.create(name);
      await repositories.commit(name, files, 'First commit');
      return {
        name,
        httpUrl: `http://127.0.0.1:${httpPort}/${name}.git`,
        sshUrl: `ssh://git@127.0.0.1:${sshPort}/${name}.git`,
        /** Commits on a branch (default `main`); `null` removes a file. Returns the commit id. */
        commit: (changes: Files, message: string, branch?: string) =>
          repositories.commit(name, changes, message, branch),
      };
    },
    /** Lets a key read one repository over SSH. @param line as in `identity.pub` */
    addDeployKey(repository: string, line: string) {
      const keys = deployKeys.get(repository) ?? new Set();
      deployKeys.set(repository, keys.add(id(parsePublicLine(line))));
    },
    removeDeployKey(repository: string, line: string) {
      deployKeys.get(repository)?.delete(id(parsePublicLine(line)));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}
