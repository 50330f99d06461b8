import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { inCluster } from './connection.ts';
import { kubeconfigConnection, kubeconfigFile } from './kubeconfig.ts';
import { pluginConnection } from './kubeconfig-plugin.ts';
import { kubeconfigOf } from './testing.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

const kubeconfig = (user: object, cluster: object = {}) =>
  kubeconfigOf(user, { server: 'https://localhost:6443', ...cluster });

async function folder(files: Record<string, string> = {}): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  onTestFinished(() => rm(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

const tokenFrom = async ({ token }: { token?: unknown }, refresh = false) =>
  typeof token === 'function' ? await token(refresh) : token;

test.each([
  ['YAML', stringify],
  ['JSON', JSON.stringify],
])('reads embedded credentials from %s', async (_, write) => {
  const text = write(
    kubeconfig(
      { token: 't', 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') },
      { 'certificate-authority-data': base64('ca'), 'tls-server-name': 'api', 'insecure-skip-tls-verify': true },
    ),
  );
  expect(await kubeconfigConnection(text, 'Secret foo/gardener')).toEqual({
    ...{ server: 'https://localhost:6443', ca: 'ca', cert: 'cert', key: 'key', token: 't' },
    ...{ serverName: 'api', insecure: true },
  });
});

test('finds files beside the kubeconfig, and prefers a token file to a token', async () => {
  const config = kubeconfig(
    { token: 'old', tokenFile: 'token', 'client-certificate': 'cert.pem', 'client-key': 'key.pem' },
    { 'certificate-authority': 'ca.pem' },
  );
  const files = { token: 'from file\n', 'cert.pem': 'cert', 'key.pem': 'key', 'ca.pem': 'ca' };
  const path = await folder({ config: stringify(config), ...files });
  const connection = await kubeconfigFile(join(path, 'config'));
  expect(connection).toMatchObject({ ca: 'ca', cert: 'cert', key: 'key' });
  expect(await tokenFrom(connection)).toBe('from file');
});

test.each([
  ['a token file', { tokenFile: '/etc/passwd' }],
  ['a client key', { 'client-certificate-data': base64('c'), 'client-key': '/etc/passwd' }],
  ['a command', { exec: { command: 'touch', args: ['made'] } }],
])('rejects %s in a kubeconfig from a Secret', async (_, user) => {
  const text = stringify(kubeconfig(user));
  await expect(kubeconfigConnection(text, 'Secret foo/gardener')).rejects.toThrow('Secret foo/gardener refers to');
});

test.each([
  ['no current-context', { ...kubeconfig({}), 'current-context': '' }, 'no current-context'],
  ['an unknown context', { ...kubeconfig({}), 'current-context': 'x' }, 'current-context x'],
  ['an unknown user', { ...kubeconfig({}), users: [] }, 'user me'],
  ['an unknown cluster', { ...kubeconfig({}), clusters: null }, 'cluster local'],
  ['a proxy', kubeconfig({}, { 'proxy-url': 'http://proxy' }), 'proxy-url'],
  ['impersonation', kubeconfig({ as: 'root' }), 'as is not supported'],
  ['a list in place of a text', kubeconfig({ token: ['a'] }), 'token is not a text; correct it'],
  [
    'an object that has the length of a list',
    kubeconfig({}, { 'certificate-authority-data': { length: 1_000_000_000 } }),
    'certificate-authority-data is not a text; correct it',
  ],
  ['a context that is null', { ...kubeconfig({}), contexts: [null] }, 'current-context here is not among its contexts'],
  ['a user that is null', { ...kubeconfig({}), users: [{ name: 'me', user: null }] }, 'user me is not among its users'],
])('rejects %s in one short sentence', async (_, config, message) => {
  const error = await kubeconfigConnection(JSON.stringify(config), 'Secret foo/gardener').catch((thrown) => thrown);
  expect(error.message).toMatch(message);
  expect(error.message).toMatch(/^Secret foo\/gardener/);
  expect(error.message.length).toBeLessThan(400);
  expect(error.message).not.toMatch(/s3cr3t|\n/);
});

test.each(['{"users": s3cr3t', 'users: [s3cr3t: {', 's3cr3t'])(
  'does not quote a text that is not a kubeconfig: %s',
  async (text) => {
    const error = await kubeconfigConnection(text, 'kubeconfig x').catch((thrown) => thrown);
    expect(error.message).toContain('kubeconfig x is not a kubeconfig');
    expect(`${error.stack} ${error.cause}`).not.toContain('s3cr3t');
  },
);

/** Writes a plugin, and a kubeconfig that calls it. */
async function pluginWith(linesIn: (path: string) => string) {
  const path = await folder({ count: '' });
  const script = join(path, 'plugin');
  await writeFile(script, `#!/bin/sh\n${linesIn(path)}\n`);
  await chmod(script, 0o755);
  const text = stringify(kubeconfig({ exec: { command: script } }));
  await writeFile(join(path, 'config'), text);
  return { text, config: join(path, 'config'), file: (name: string) => join(path, name) };
}

const credential = (status: object) =>
  JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });

test('gets the token from an exec plugin, and again after a 401', async () => {
  const { config } = await pluginWith(
    (path) => `printf x >> ${path}/count\nprintf '${credential({ token: 't%s' })}' "$(wc -c < ${path}/count)"`,
  );
  const connection = await kubeconfigFile(config);
  expect(await tokenFrom(connection)).toBe('t1');
  expect(await tokenFrom(connection)).toBe('t1');
  expect(await tokenFrom(connection, true)).toBe('t2');
});

test('does not quote the output of a failed exec plugin', async () => {
  const { config } = await pluginWith(() => 'echo s3cr3t');
  const error = await kubeconfigFile(config).catch((thrown) => thrown);
  expect(error.message).toContain('exec or auth-provider failed');
  expect(`${error.stack} ${error.cause}`).not.toContain('s3cr3t');
});

test('calls that need a credential at the same time share one command of a plugin, also when it fails', async () => {
  // Expired: client-node asks again for each call.
  const expired = credential({ token: 't', expirationTimestamp: '2020-01-01T00:00:00Z' });
  const { config, file } = await pluginWith(
    (path) => `printf x >> ${path}/count\ntest -e ${path}/broken && exit 1\nprintf '${expired}'`,
  );
  const connection = await kubeconfigFile(config);
  const commands = async () => (await readFile(file('count'), 'utf8')).length;
  const calls = () => Promise.allSettled(Array.from({ length: 20 }, (_, call) => tokenFrom(connection, call > 10)));
  await calls();
  // One for the connection, one for a cached credential, and one for a fresh one.
  expect(await commands()).toBe(3);
  await writeFile(file('broken'), '');
  await calls();
  const results = await calls();
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(await commands()).toBeLessThanOrEqual(5);
});

test.each([
  ['that never ends', (path: string) => `echo $$ > ${path}/pid\nexec sleep 600`, true],
  // The command keeps the output open, for which client-node waits.
  ['that leaves a command behind', (path: string) => `sleep 120 &\necho $! > ${path}/pid\nwait`, false],
])('a plugin %s makes calls fail in time, and does not go on itself', async (_, lines, isItself) => {
  const { text, file } = await pluginWith(lines);
  await expect(pluginConnection(text, 'kubeconfig x', { server: 'https://127.0.0.1:1' }, 2_000)).rejects.toThrow(
    'kubeconfig x: its exec or auth-provider failed, or took longer than 2 s; run kubectl with this kubeconfig',
  );
  const pid = Number(await readFile(file('pid'), 'utf8'));
  if (!isItself) return void process.kill(pid);
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 240_000 });
});

test('uses the ServiceAccount of the pod inside a cluster', async () => {
  const path = await folder({ 'ca.crt': 'ca', token: 't' });
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const connection = await inCluster(environment, path);
  expect(connection).toMatchObject({ server: 'https://[fd00::1]:443', ca: 'ca' });
  expect(await tokenFrom(connection)).toBe('t');
  await expect(inCluster({}, path)).rejects.toThrow('KUBERNETES_SERVICE_HOST');
});
