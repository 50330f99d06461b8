import { describe, expect, it } from 'vitest';
import { createBatcher } from './batcher.ts';

type Entry = { body: number };
const numbers = (count: number) => Array.from({ length: count }, (_, body) => ({ body }));

/** A batcher, the entries of its requests, and which of them SQS rejects. */
function batcherOf(rejects: (body: number, request: number) => boolean, SenderFault = false, attempts?: number) {
  const requests: number[][] = [];
  const send = createBatcher<Entry>(
    async (entries) => {
      requests.push(entries.map(({ body }) => body));
      const rejected = entries.filter(({ body }) => rejects(body, requests.length));
      return { Failed: rejected.map(({ Id }) => ({ Id, SenderFault, Code: 'AnyReason' })) };
    },
    { backOff: async () => {}, ...(attempts && { attempts }) },
  );
  return { send, requests };
}

describe('batcher', () => {
  it('sends the entries of one turn of the event loop in requests of ten', async () => {
    const { send, requests } = batcherOf(() => false);
    await Promise.all(numbers(23).map(send));
    expect(requests.map(({ length }) => length)).toEqual([10, 10, 3]);
  });

  it('retries only the entries that SQS rejected', async () => {
    const { send, requests } = batcherOf((body, request) => request === 1 && body % 2 === 0);
    await Promise.all(numbers(4).map(send));
    expect(requests.map((bodies) => bodies.join())).toEqual(['0,1,2,3', '0,2']);
  });

  it('fails an entry only after all attempts, and no other entry of its request', async () => {
    const { send, requests } = batcherOf((body) => body === 1, false, 3);
    const results = await Promise.allSettled(numbers(3).map(send));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(requests).toHaveLength(3);
  });

  it('does not retry failures of the sender', async () => {
    const { send, requests } = batcherOf(() => true, true);
    await expect(send({ body: 1 })).rejects.toThrow('AnyReason');
    expect(requests).toHaveLength(1);
  });

  it('fails all entries of a failed request, and continues with the next request', async () => {
    let requests = 0;
    const send = createBatcher<Entry>(
      async () => {
        requests++;
        if (requests === 1) throw new Error('no connection');
        return {};
      },
      { parallel: 1 },
    );
    const results = await Promise.allSettled(numbers(15).map(send));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(10);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });
});
