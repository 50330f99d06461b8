import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Connection, isSameConnection } from '../../shared/kube/connection.ts';
import { kubeconfigOf } from '../cli/testing.ts';
import { secretsManagerKubeconfigs, webIdentityToken, withWebIdentity } from './clusters.ts';
import type { AwsEndpoint } from './request.ts';

const secrets: Record<string, string> = {
  'shoot-flux/dev/keys/garden': JSON.stringify(kubeconfigOf({ token: 'hunter2' }, { server: 'https://api.local' })),
  'shoot-flux/dev/keys/broken': 'token: "hunter2',
};

/** What STS was asked for, and what it answers. */
let asked: Record<string, string>[];
let isDisabled: boolean;

/** Secrets Manager and STS. */
const server = createServer(async (incoming, outgoing) => {
  const body = await text(incoming);
  const [, service] =
    /^AWS4-HMAC-SHA256 Credential=AK\/\d+\/eu-west-1\/(\w+)\//.exec(incoming.headers.authorization ?? '') ?? [];
  if (service === 'secretsmanager') {
    const isGet = incoming.headers['x-amz-target'] === 'secretsmanager.GetSecretValue';
    const SecretString = isGet ? secrets[JSON.parse(body).SecretId] : undefined;
    outgoing.writeHead(SecretString === undefined ? 400 : 200);
    return outgoing.end(JSON.stringify(SecretString ? { SecretString } : { __type: 'ResourceNotFoundException' }));
  }
  asked.push({ ...Object.fromEntries(new URLSearchParams(body)), service: service ?? 'not signed' });
  if (isDisabled)
    return outgoing.writeHead(403).end('<Error><Code>OutboundWebIdentityFederationDisabled</Code></Error>');
  const result = `<WebIdentityToken>e30.token-${asked.length}.x_y</WebIdentityToken>`;
  return outgoing.end(`<GetWebIdentityTokenResponse>${result}</GetWebIdentityTokenResponse>`);
});
let aws: AwsEndpoint;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  aws = {
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AK', secretAccessKey: 'SK' },
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  };
});
beforeEach(() => {
  asked = [];
  isDisabled = false;
});
afterAll(() => server.close());

describe('kubeconfigs in AWS Secrets Manager', () => {
  const connectionTo = (cluster: string) => secretsManagerKubeconfigs('shoot-flux/dev/keys/', aws)(cluster);

  it('are found by the cluster name', async () => {
    expect(await connectionTo('garden')).toMatchObject({ server: 'https://api.local', token: 'hunter2' });
  });

  it('are named when they are missing or broken, and never quoted', async () => {
    await expect(connectionTo('local')).rejects.toThrow(
      'AWS secret shoot-flux/dev/keys/local cannot be read: ResourceNotFoundException',
    );
    const error = await connectionTo('broken').catch((thrown: Error) => thrown);
    expect(error).toHaveProperty('message', expect.stringContaining('AWS secret shoot-flux/dev/keys/broken'));
    expect(String(error)).not.toContain('hunter2');
  });
});

describe('a token of AWS', () => {
  it('is for one audience, short-lived and signed with ES384', async () => {
    expect(await webIdentityToken('shoot-flux-dev/garden', aws)(false)).toBe('e30.token-1.x_y');
    expect(asked).toEqual([
      {
        Action: 'GetWebIdentityToken',
        Version: '2011-06-15',
        'Audience.member.1': 'shoot-flux-dev/garden',
        SigningAlgorithm: 'ES384',
        DurationSeconds: '300',
        service: 'sts',
      },
    ]);
  });

  it('is kept until 80 % of its time have passed, and replaced after a 401', async () => {
    let now = 0;
    const token = webIdentityToken('a/garden', aws, () => now);
    expect(await Promise.all([token(false), token(false)])).toEqual(['e30.token-1.x_y', 'e30.token-1.x_y']);
    now = 239_000;
    expect(await token(false)).toBe('e30.token-1.x_y');
    now = 240_000;
    expect(await token(false)).toBe('e30.token-2.x_y');
    expect(await token(true)).toBe('e30.token-3.x_y');
    expect(await token(false)).toBe('e30.token-3.x_y');
  });

  it('names the missing right, and is asked for again after a failure', async () => {
    const token = webIdentityToken('a/garden', aws);
    isDisabled = true;
    await expect(token(false)).rejects.toThrow(
      'AWS STS gives no token for a/garden: OutboundWebIdentityFederationDisabled; the account must allow outbound web identity federation',
    );
    isDisabled = false;
    expect(await token(false)).toBe('e30.token-2.x_y');
  });
});

describe('a cluster without credentials in its kubeconfig', () => {
  const read = (connection: Partial<Connection>) =>
    withWebIdentity(async () => ({ server: 'https://api.local', ...connection }), 'shoot-flux-dev/', aws);

  it("gets a token with the cluster's own audience", async () => {
    const { token } = await read({})('my-seed');
    expect(typeof token === 'function' && (await token(false))).toBe('e30.token-1.x_y');
    expect(asked.map((request) => request['Audience.member.1'])).toEqual(['shoot-flux-dev/my-seed']);
  });

  it('keeps credentials that it has', async () => {
    expect(await read({ token: 'hunter2' })('garden')).toEqual({ server: 'https://api.local', token: 'hunter2' });
    expect(await read({ cert: 'C', key: 'K' })('garden')).not.toHaveProperty('token');
  });

  it('is the same connection when it is read again', async () => {
    const one = await read({})('garden');
    expect(isSameConnection(one, await read({})('garden'))).toBe(true);
    expect(isSameConnection(one, await read({})('my-seed'))).toBe(false);
  });
});
