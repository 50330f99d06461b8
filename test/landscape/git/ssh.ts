import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from 'ssh2';
import { fingerprint, generateKeyPair, openSshKey, type PublicKey, publicKeyOf, publicLine } from './keys.ts';
import { gitEnvironment, type Repositories } from './repositories.ts';

/** One request for a repository. */
export interface Access {
  protocol: 'http' | 'ssh';
  /** The repository's name without `.git`, as the client asked for it. */
  repository: string;
  /** The key's fingerprint; absent over HTTP, which needs no login. */
  who?: string | undefined;
  allowed: boolean;
}

export interface SshOptions {
  repositories: Repositories;
  /** Returns whether the key is a deploy key of any repository. */
  knows(key: PublicKey): boolean;
  /** Returns whether the key is a deploy key of this repository. */
  mayRead(repository: string, key: PublicKey): boolean;
  log(access: Access): void;
}

/** Serves Git over SSH for reading: authenticates deploy keys and runs `git upload-pack`. */
export function createSshServer(options: SshOptions) {
  const pair = generateKeyPair();
  const connections = new Set<Connection>();
  const server = new ssh2.Server({ hostKeys: [openSshKey(pair.privateKey)] }, (connection) => {
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
    serve(options, connection);
  });
  return {
    hostKey: pair.publicKey,
    /** Listens on 127.0.0.1 and returns the port. */
    listen: () =>
      new Promise<number>((resolve, reject) => {
        server.on('error', reject);
        server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
      }),
    /** Ends every connection. */
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const connection of connections) connection.end();
      }),
  };
}

function serve(options: SshOptions, connection: Connection): void {
  let key: PublicKey | undefined;
  connection.on('error', () => {});
  connection.on('authentication', (context) => {
    const shown = context.method === 'publickey' ? publicKeyOf(context.key.data) : undefined;
    if (shown === undefined || !options.knows(shown) || !proves(context, shown)) return context.reject(['publickey']);
    key = shown;
    context.accept();
  });
  connection.on('ready', () => {
    connection.on('session', (accept) => answer(options, accept(), key));
  });
}

/** Checks the signature; a client first asks whether the key is acceptable, without one. */
function proves(context: AuthContext, key: PublicKey): boolean {
  if (context.method !== 'publickey') return false;
  if (context.signature === undefined || context.blob === undefined) return true;
  const parsed = ssh2.utils.parseKey(publicLine(key));
  return !(parsed instanceof Error) && parsed.verify(context.blob, context.signature, context.hashAlgo) === true;
}

function answer(options: SshOptions, session: Session, key: PublicKey | undefined): void {
  let protocol = '';
  session.on('env', (accept, _reject, { key: name, val }) => {
    if (name === 'GIT_PROTOCOL') protocol = val;
    accept?.();
  });
  session.on('exec', (accept, _reject, { command }) => {
    const [, repository = ''] = /^git[- ]upload-pack '\/?([^/']+?)(?:\.git)?'$/.exec(command) ?? [];
    const allowed = key !== undefined && options.repositories.has(repository) && options.mayRead(repository, key);
    options.log({ protocol: 'ssh', repository, who: key && fingerprint(key), allowed });
    const channel = accept();
    if (allowed) uploadPack(join(options.repositories.root, `${repository}.git`), protocol, channel);
    else refuse(channel);
  });
}

function refuse(channel: ServerChannel): void {
  channel.stderr.write('ERROR: Repository not found, or this key may not read it.\n');
  channel.exit(128);
  channel.end();
}

function uploadPack(folder: string, protocol: string, channel: ServerChannel): void {
  const child = spawn('git', ['upload-pack', folder], { env: { ...gitEnvironment(), GIT_PROTOCOL: protocol } });
  channel.pipe(child.stdin.on('error', () => {}));
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  child.on('close', (code) => {
    channel.exit(code ?? 1);
    channel.end();
  });
}
