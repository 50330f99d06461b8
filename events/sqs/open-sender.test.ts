import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { definitionOf } from '../testing.ts';
import { openSqsSender } from './open-sender.ts';

it('ends with one sentence when SQS accepts connections and never answers', async () => {
  const silent = createServer(() => {});
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const options = { definitions: [definitionOf('keys')], prefix: 'a-', seeds: [], openMs: 300 };
  await expect(openSqsSender({ ...options, endpoint: `http://127.0.0.1:${port}` })).rejects.toThrow(
    `SQS at 127.0.0.1:${port}: the queues a-* cannot be opened (no answer within 0.3 s); check region, credentials and ` +
      'rights.',
  );
  silent.closeAllConnections();
  silent.close();
});
