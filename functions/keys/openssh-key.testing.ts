import { createPrivateKey } from 'node:crypto';
import { sshString } from '../../shared/ssh/public-key.ts';

/**
 * Returns an Ed25519 key in the OpenSSH format: Flux reads PKCS#8, OpenSSH only since version 9.6. Other keys are
 * returned unchanged.
 */
export function openSshPrivateKey(pem: string): string {
  const { kty, d = '', x = '' } = createPrivateKey(pem).export({ format: 'jwk' });
  if (kty !== 'OKP') return pem;
  const [secret, open] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  const publicBlob = Buffer.concat([sshString('ssh-ed25519'), sshString(open)]);
  const check = Buffer.alloc(8, 1);
  const fields = [check, publicBlob, sshString(Buffer.concat([secret, open])), sshString('')];
  const length = fields.reduce((sum, field) => sum + field.length, 0);
  const padding = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8].slice(0, (8 - (length % 8)) % 8));
  const none = sshString('none');
  const count = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[none, none, sshString(''), count, sshString(publicBlob), sshString(Buffer.concat([...fields, padding]))],
  ]);
  const base64 = blob.toString('base64').replace(/.{70}/g, '$&\n');
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${base64}\n-----END OPENSSH PRIVATE KEY-----\n`;
}
