/**
 * Replaces `ssh` for git: `ssh-client.ts [-o …] [-p port] user@host command`. Like source-controller it logs in with one
 * identity and accepts only the host keys of one known_hosts text, both from the environment. It needs no OpenSSH.
 */
import ssh2 from 'ssh2';
import { openSshKey } from '../git/keys.ts';

const { SSH_IDENTITY = '', SSH_KNOWN_HOSTS = '', GIT_PROTOCOL } = process.env;
const { host, port, username, command } = parseArguments(process.argv.slice(2));

const connection = new ssh2.Client();
let refused = false;
connection.on('error', ({ message, level }) => {
  if (refused) fail('ssh: handshake failed: knownhosts: key mismatch');
  const unauthenticated = level === 'client-authentication';
  const methods = 'attempted methods [none publickey], no supported methods remain';
  fail(unauthenticated ? `ssh: handshake failed: ssh: unable to authenticate, ${methods}` : `dial tcp: ${message}`);
});
connection.on('ready', () => {
  const env = GIT_PROTOCOL === undefined ? {} : { env: { GIT_PROTOCOL } };
  connection.exec(command, env, (error, channel) => {
    if (error) fail(error.message);
    process.stdin.pipe(channel);
    channel.pipe(process.stdout);
    channel.stderr.pipe(process.stderr);
    channel.on('exit', (code: number | null) => {
      process.exitCode = code ?? 1;
    });
    channel.on('close', () => connection.end());
  });
});
connection.connect({
  host,
  port,
  username,
  privateKey: openSshKey(SSH_IDENTITY),
  hostVerifier: (key: Buffer) => {
    const known = isKnown(key.toString('base64'));
    refused = !known;
    return known;
  },
});

/** Lines are `host type key`, with `[host]:port` for ports other than 22. */
function isKnown(key: string): boolean {
  const name = port === 22 ? host : `[${host}]:${port}`;
  return SSH_KNOWN_HOSTS.split('\n').some((line) => {
    const [hosts = '', , known] = line.trim().split(/\s+/);
    return known === key && hosts.split(',').includes(name);
  });
}

function parseArguments(args: string[]) {
  let port = 22;
  const rest: string[] = [];
  for (let index = 0; index < args.length; index++) {
    if (args[index] === '-p') port = Number(args[++index]);
    else if (args[index] === '-o') index++;
    else rest.push(args[index] ?? '');
  }
  const [target = '', ...command] = rest;
  const [username = 'git', host = ''] = target.includes('@') ? target.split('@') : ['git', target];
  return { host, port, username, command: command.join(' ') };
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(255);
}
