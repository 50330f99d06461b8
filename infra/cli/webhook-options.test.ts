import { createPrivateKey } from 'node:crypto';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renewed } from '../webhooks/certificates.ts';
import { webhooksOf } from './webhook-options.ts';

describe('webhooks of run', () => {
  it('are served only with --webhook-port', async () => {
    expect(await webhooksOf({})).toBeUndefined();
    expect(await webhooksOf({ 'webhook-port': 0 })).toEqual({ port: 0, hosts: ['shoot-flux.shoot-flux.svc'] });
    expect(await webhooksOf({ 'webhook-port': 8443, 'webhook-host': ['a.example', '127.0.0.1'] })).toEqual({
      port: 8443,
      hosts: ['a.example', '127.0.0.1'],
    });
    expect(await webhooksOf({ 'webhook-port': 8443, 'webhook-host': ['bücher.example', '2001:DB8:0::1'] })).toEqual({
      port: 8443,
      hosts: ['xn--bcher-kva.example', '2001:db8::1'],
    });
  });

  it('keep their certificates, and publish their authority, where the options say', async () => {
    const values = { 'webhook-port': 0, 'webhook-configuration': 'of-this-installation' };
    expect(await webhooksOf({ ...values, 'webhook-secret': 'in-cluster:extension-x/certificates' })).toMatchObject({
      secret: { cluster: 'in-cluster', namespace: 'extension-x', name: 'certificates' },
      configuration: 'of-this-installation',
    });
    expect(await webhooksOf({ ...values, 'webhook-secret': 'mine/certificates' })).toMatchObject({
      secret: { cluster: 'garden', namespace: 'mine', name: 'certificates' },
    });
    await expect(webhooksOf({ ...values, 'webhook-secret': 'certificates' })).rejects.toThrow(
      'is not of the form [CLUSTER:]NAMESPACE/NAME',
    );
  });

  it('are all served, unless the options name some of them', async () => {
    const values = { 'webhook-port': 0 };
    expect(await webhooksOf({ ...values, 'webhook-function': ['admission'] })).toMatchObject({
      functions: ['admission'],
    });
    await expect(webhooksOf({ ...values, 'webhook-function': ['keys'] })).rejects.toThrow(
      'is not one of admission, resource-manager-webhook, push-webhook',
    );
  });

  it('take pushes only where --push-url says where, and no other function is named', async () => {
    const values = { 'webhook-port': 0, 'push-url': 'https://flux.example.org' };
    expect(await webhooksOf(values)).toMatchObject({ takesPushes: true });
    expect(await webhooksOf({ ...values, 'webhook-function': ['push-webhook'] })).toMatchObject({ takesPushes: true });
    expect(await webhooksOf({ ...values, 'webhook-function': ['admission'] })).not.toHaveProperty('takesPushes');
  });

  it('use a certificate from files, and name the file that is wrong, and why', async () => {
    await using temporary = await mkdtempDisposable(join(tmpdir(), 'webhook-options-'));
    const folder = temporary.path;
    const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    const now = new Date();
    const make = (names: string[], date = now) => renewed(undefined, names, date);
    const values = { 'webhook-port': 0, 'webhook-cert': certFile, 'webhook-key': keyFile };
    const refusal = async (cert: string, key: string) => {
      await writeFile(certFile, cert);
      await writeFile(keyFile, key);
      const error = await webhooksOf(values).catch((thrown: Error) => thrown);
      return error instanceof Error ? error.message.replaceAll(`${folder}/`, '') : '';
    };
    const [made, nameless, old] = await Promise.all([
      make(['a.example']),
      make([]),
      make(['a.example'], new Date(now.getTime() - 20 * 86_400_000)),
    ]);
    const { serving, authorities } = made;
    const authority = authorities[0] ?? serving;
    const encrypted = createPrivateKey(serving.key).export({
      ...{ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
    });
    expect(await refusal(serving.cert, serving.key)).toBe('');
    expect(await webhooksOf(values)).toEqual({ port: 0, hosts: [], certificate: { certFile, keyFile } });
    const caFile = join(folder, 'ca.crt');
    const withAuthority = { ...values, 'webhook-ca': caFile };
    await writeFile(caFile, 'x');
    await expect(webhooksOf(withAuthority)).rejects.toThrow(`${caFile} is not a certificate; pass one in PEM format.`);
    await writeFile(caFile, serving.cert);
    expect((await webhooksOf(withAuthority))?.certificate).toEqual({ certFile, keyFile, caFile });
    expect(await refusal(`${serving.cert}${authority.cert}`, serving.key)).toBe('');
    expect(await refusal('x', serving.key)).toBe('tls.crt is not a certificate; pass one in PEM format.');
    expect(await refusal(serving.cert, serving.cert)).toBe('tls.key is not a private key; pass one in PEM format.');
    expect(await refusal(serving.cert, encrypted.toString())).toBe(
      'tls.key is encrypted; pass one without a passphrase.',
    );
    const other = 'tls.key is not the key of the first certificate in tls.crt; pass a certificate and its key.';
    expect(await refusal(serving.cert, authority.key)).toBe(other);
    expect(await refusal(`${authority.cert}${serving.cert}`, serving.key)).toBe(other);
    expect(await refusal(nameless.serving.cert, nameless.serving.key)).toBe(
      'tls.crt has no host in its subjectAltName; pass one that does.',
    );
    expect(await refusal(old.serving.cert, old.serving.key)).toMatch(
      /^tls\.crt expired at 20.*; pass one that is valid\.$/,
    );
  });

  it.each([
    [{ 'webhook-port': 0, 'webhook-ca': 'a' }, '--webhook-ca requires --webhook-cert'],
    [
      { 'webhook-port': 0, 'webhook-token-sha256': 'a-token' },
      '--webhook-token-sha256 must be the SHA-256 hash of a token, 64 hexadecimal digits',
    ],
    [{ 'webhook-host': ['a'] }, '--webhook-host requires --webhook-port'],
    [{ 'webhook-key': 'a' }, '--webhook-key requires --webhook-port'],
    [
      { 'webhook-port': 1, 'webhook-host': ['https://a.example'] },
      '--webhook-host https://a.example is neither a name such as shoot-flux.shoot-flux.svc nor an address such as',
    ],
    [{ 'webhook-port': 1, 'webhook-cert': 'a' }, '--webhook-cert and --webhook-key require each other'],
    [
      { 'webhook-port': 1, 'webhook-cert': 'a', 'webhook-key': 'b', 'webhook-host': ['c'] },
      '--webhook-host cannot be combined with --webhook-cert, which has its own names',
    ],
    [
      { 'webhook-port': 1, 'webhook-cert': '/no/cert', 'webhook-key': '/no/key' },
      'cannot read /no/cert: file not found',
    ],
  ])('reject %j', async (values, message) => {
    await expect(webhooksOf(values)).rejects.toThrow(message);
  });
});
