import { describe, expect, it } from 'vitest';
import { createBatcher } from './batcher.ts';

type Entry = { body: number };
const numbers = (count: number) => Array.from({ length: count }, (_, body) => ({ body }));
const noWait = async () => {};

describe('batcher', () => {
  it('sends the entries of one turn of the event loop in requests of ten, each with its own id', async () => {
    const sizes: number[] = [];
    const send = createBatcher<Entry>(async (entries) => {
      sizes.push(new Set(entries.map(({ Id }) => Id)).size);
      return {};
    });
    await Promise.all(numbers(23).map(send));
    expect(sizes).toEqual([10, 10, 3]);
  });

  it('retries only the entries that SQS rejected', async () => {
    const requests: number[][] = [];
    const send = createBatcher<Entry>(
      async (entries) => {
        requests.push(entries.map(({ body }) => body));
        const refused = requests.length === 1 ? entries.filter(({ body }) => body % 2 === 0) : [];
        return { Failed: refused.map(({ Id }) => ({ Id, SenderFault: false, Code: 'InternalError' })) };
      },
      { backOff: noWait },
    );
    await Promise.all(numbers(4).map(send));
    expect(requests).toEqual([
      [0, 1, 2, 3],
      [0, 2],
    ]);
  });

  it('fails an entry only after all attempts, and no other entry of its request', async () => {
    let requests = 0;
    const send = createBatcher<Entry>(
      async (entries) => {
        requests++;
        const refused = entries.filter(({ body }) => body === 1);
        return { Failed: refused.map(({ Id }) => ({ Id, SenderFault: false, Code: 'InternalError' })) };
      },
      { attempts: 3, backOff: noWait },
    );
    const results = await Promise.allSettled(numbers(3).map(send));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(requests).toBe(3);
  });

  it('does not retry failures of the sender', async () => {
    let requests = 0;
    const send = createBatcher<Entry>(async ([first]) => {
      requests++;
      return { Failed: [{ Id: first?.Id, SenderFault: true, Code: 'InvalidMessageContents' }] };
    });
    await expect(send({ body: 1 })).rejects.toThrow('InvalidMessageContents');
    expect(requests).toBe(1);
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
