import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:https';
import { caBundle, renewed } from '../../../../infra/webhooks/certificates.ts';
import { listen } from '../../cluster/ports.ts';

/** The issuer of an account's tokens: API servers read its keys, as they read AWS's. */
export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

/** Serves the discovery document and the public key on loopback, over TLS. */
export async function startIssuer() {
  const certificates = await renewed(undefined, ['127.0.0.1'], new Date());
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const jwk = publicKey.export({ format: 'jwk' });
  const kid = createHash('sha256').update(JSON.stringify(jwk)).digest('hex').slice(0, 16);

  let url = '';
  const server = createServer(certificates.serving, (incoming, outgoing) => {
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': {
        issuer: url,
        jwks_uri: `${url}/.well-known/jwks.json`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256', 'ES384'],
      },
      '/.well-known/jwks.json': { keys: [{ ...jwk, kid, use: 'sig', alg: 'ES384' }] },
    };
    const found = documents[incoming.url ?? ''];
    outgoing.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(found ?? {}));
  });
  const listening = await listen(server);
  url = `https://${listening.host}`;
  return {
    ...listening,
    url,
    /** AWS's is public. */
    ca: caBundle(certificates),
    /** Signs a token as AWS STS does. */
    token({ seconds, ...claims }: { sub: string; aud: string | string[]; seconds: number }) {
      const iat = Math.floor(Date.now() / 1000);
      const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
      const text = `${encode({ alg: 'ES384', kid, typ: 'JWT' })}.${encode({ iss: url, iat, exp: iat + seconds, ...claims })}`;
      const signature = sign('sha384', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${text}.${signature.toString('base64url')}`;
    },
  };
}
