import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretsManagerKubeconfigs } from './clusters.ts';

const kubeconfig = {
  'current-context': 'c',
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://api.local' } }],
  users: [{ name: 'u', user: { token: 'hunter2' } }],
};
const secrets: Record<string, string> = {
  'shoot-flux/dev/keys/garden': JSON.stringify(kubeconfig),
  'shoot-flux/dev/keys/broken': 'token: "hunter2',
};

const server = createServer(async (incoming, outgoing) => {
  const { SecretId } = JSON.parse(await text(incoming));
  const isSigned = /^AWS4-HMAC-SHA256 Credential=AK\//.test(incoming.headers.authorization ?? '');
  const isGet = incoming.headers['x-amz-target'] === 'secretsmanager.GetSecretValue';
  const SecretString = isSigned && isGet ? secrets[SecretId] : undefined;
  outgoing.writeHead(SecretString === undefined ? 400 : 200);
  outgoing.end(JSON.stringify(SecretString === undefined ? { __type: 'ResourceNotFoundException' } : { SecretString }));
});
let endpoint: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => server.close());

const clusters = () =>
  secretsManagerKubeconfigs('shoot-flux/dev/keys/', {
    region: 'eu-west-1',
    credentials: () => ({ accessKeyId: 'AK', secretAccessKey: 'SK' }),
    endpoint,
  });

describe('kubeconfigs in AWS Secrets Manager', () => {
  it('are found by the cluster name', async () => {
    expect(await clusters()('garden')).toMatchObject({ server: 'https://api.local', token: 'hunter2' });
  });

  it('name the missing secret', async () => {
    await expect(clusters()('local')).rejects.toThrow(
      'AWS secret shoot-flux/dev/keys/local cannot be read: ResourceNotFoundException',
    );
  });

  it('are never quoted when they are broken', async () => {
    const error = await clusters()('broken').catch((thrown: Error) => thrown);
    expect(error).toHaveProperty('message', expect.stringContaining('AWS secret shoot-flux/dev/keys/broken'));
    expect(String(error)).not.toContain('hunter2');
  });
});
