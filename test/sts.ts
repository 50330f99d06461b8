import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** AWS's token service, as far as AssumeRoleWithWebIdentity goes. */
export async function startSts() {
  const tokens: string[] = [];
  const server = createServer(async (incoming, response) => {
    tokens.push(new URLSearchParams(await text(incoming)).get('WebIdentityToken') ?? '');
    const expiration = new Date(Date.now() + 3_600_000).toISOString();
    const credentials =
      '<AccessKeyId>ASIAOFTHEROLE</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>' +
      `<SessionToken>session-of-the-role</SessionToken><Expiration>${expiration}</Expiration>`;
    response.writeHead(200, { 'content-type': 'text/xml' }).end(
      `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <AssumeRoleWithWebIdentityResult><Credentials>${credentials}</Credentials></AssumeRoleWithWebIdentityResult>
      </AssumeRoleWithWebIdentityResponse>`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, tokens, stop: async () => void server.close() };
}
