import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from '../../shared/runtime/log.ts';
import { changeOf, definitionOf, keptLog, lookInto } from '../testing.ts';
import { openSqsBridge, type SqsBridge } from './bridge.ts';
import { lazySqs, type Sqs } from './connect.ts';
import { startPoller } from './poller.ts';
import { type Emulator, startEmulator } from './testing.ts';

const log = createLog('error', () => {});
const soon = { timeout: 60_000, interval: 20 };
const LEASE_SECONDS = 2;

let emulator: Emulator;
let bridge: SqsBridge;
let sqs: Sqs;
beforeAll(async () => {
  emulator = await startEmulator();
  const definitions = ['killed', 'leased', 'silent', 'stuck'].map((name) => definitionOf(name));
  // A queue with a long visibility timeout, as other tools create it: the poller's own lease counts.
  bridge = await openSqsBridge({ definitions, log, endpoint: emulator.endpoint, visibilitySeconds: 600 });
  sqs = await lazySqs({ endpoint: emulator.endpoint })();
});
afterAll(async () => {
  await bridge.stop();
  await emulator.stop();
});

/** Starts a poller in a process of its own; its run never ends. Returns how to kill it. */
async function startProcess(name: string): Promise<() => Promise<void>> {
  const script = fileURLToPath(new URL('poller-process.ts', import.meta.url));
  const child = spawn(process.execPath, [
    script,
    emulator.endpoint,
    bridge.queues.queue(name),
    name,
    `${LEASE_SECONDS}`,
  ]);
  await once(child.stdout, 'data');
  return async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
}

describe('the lease of a poller', () => {
  it('ends soon after its process was killed, and another process gets the change', async () => {
    await bridge.sender.send([changeOf({ function: 'killed' })]);
    const kill = await startProcess('killed');
    await new Promise((resolve) => setTimeout(resolve, 2_000 * LEASE_SECONDS));
    const { inflight } = await lookInto(emulator.endpoint, 'shoot-flux-killed.fifo');
    expect(inflight).toHaveLength(1);
    await kill();
    const killedAt = performance.now();
    const arrived = Promise.withResolvers<number>();
    const poller = startPoller({
      ...{ name: 'killed', queueUrl: bridge.queues.queue('killed'), sqs, log, waitSeconds: 1 },
      async lambda() {
        arrived.resolve(performance.now());
        return { batchItemFailures: [] };
      },
    });
    const waitedMs = (await arrived.promise) - killedAt;
    await poller.stop();
    // The queue itself hides a change for longer.
    expect(waitedMs).toBeLessThan(15_000);
  });

  it('is a quarter of a minute', async () => {
    await bridge.sender.send([changeOf({ function: 'leased' })]);
    const poller = startPoller({
      ...{ name: 'leased', queueUrl: bridge.queues.queue('leased'), sqs, log, waitSeconds: 1, concurrency: 1 },
      lambda: () => new Promise(() => {}),
    });
    const received = await vi.waitFor(async () => {
      const { inflight } = await lookInto(emulator.endpoint, 'shoot-flux-leased.fifo');
      expect(inflight).toHaveLength(1);
      return inflight[0];
    }, soon);
    expect((received?.visibilityDeadline ?? 0) - Date.now()).toBeLessThanOrEqual(15_000);
    await poller.stop(0);
  });
});

describe('a lease that SQS did not renew', () => {
  it('is renewed at the next opportunity, before it ends', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const begun = Promise.withResolvers<void>();
    const renewals: number[] = [];
    const messages = [{ MessageId: 'm', ReceiptHandle: 'r', Body: '{}', Attributes: { MessageGroupId: 'g' } }];
    const send = async (command: object) => {
      if (command instanceof sqs.commands.ReceiveMessageCommand) return { Messages: messages.splice(0) };
      renewals.push(performance.now());
      if (renewals.length === 1) throw new Error('throttled');
      return {};
    };
    const start = performance.now();
    const poller = startPoller({
      ...{ name: 'leased', queueUrl: 'http://sqs/0/leased.fifo', log, concurrency: 1 },
      sqs: { ...sqs, client: { send } as never },
      lambda() {
        begun.resolve();
        return new Promise(() => {});
      },
    });
    await begun.promise;
    for (let second = 0; second < 15; second++) {
      await vi.advanceTimersByTimeAsync(1_000);
      // Requests leave in the next turns of the event loop.
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
    }
    expect(renewals.filter((at) => at - start < 15_000)).toHaveLength(2);
    await poller.stop(0);
  });
});

describe('a poller', () => {
  it('is no longer alive when neither a receive nor a run ends', async () => {
    await bridge.sender.send([changeOf({ function: 'stuck' })]);
    const started = Promise.withResolvers<void>();
    const poller = startPoller({
      ...{ name: 'stuck', queueUrl: bridge.queues.queue('stuck'), sqs, log, waitSeconds: 1, concurrency: 1 },
      progressMs: 3_000,
      lambda() {
        started.resolve();
        return new Promise(() => {});
      },
    });
    await started.promise;
    expect(poller.alive()).toBe(true);
    await vi.waitFor(() => expect(poller.alive()).toBe(false), soon);
    await poller.stop(0);
  });
});

describe('opening the queues', () => {
  it('ends with one sentence when SQS accepts connections and never answers', async () => {
    const silent = createServer(() => {});
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await expect(openSqsBridge({ definitions: [definitionOf('keys')], log, endpoint, openMs: 300 })).rejects.toThrow(
      'the queues cannot be opened (no answer within 0.3 s); check the endpoint.',
    );
    silent.closeAllConnections();
    silent.close();
  });
});

describe('a receive that is never answered', () => {
  it('is cut off and repeated, and meanwhile the poller is alive', async () => {
    let hanging = 0;
    // In front of SQS: swallows the first two receives.
    const proxy = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { host: _, ...headers } = request.headers;
      if (headers['x-amz-target'] === 'AmazonSQS.ReceiveMessage' && hanging++ < 2) return;
      const answer = await fetch(`${emulator.endpoint}${request.url}`, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: Buffer.concat(chunks),
      });
      const type = answer.headers.get('content-type') ?? '';
      response.writeHead(answer.status, { 'content-type': type }).end(Buffer.from(await answer.arrayBuffer()));
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { log: kept, lines } = keptLog();
    await bridge.sender.send([changeOf({ function: 'silent' })]);
    const arrived = Promise.withResolvers<void>();
    const poller = startPoller({
      ...{ name: 'silent', queueUrl: bridge.queues.queue('silent'), log: kept, waitSeconds: 1, answerMs: 300 },
      sqs: await lazySqs({ endpoint })(),
      async lambda() {
        arrived.resolve();
        return { batchItemFailures: [] };
      },
    });
    await arrived.promise;
    expect(poller.alive()).toBe(true);
    await poller.stop();
    proxy.closeAllConnections();
    proxy.close();
    expect(lines.filter(({ message }) => message === 'receive failed')).toEqual([
      expect.objectContaining({ failures: 1, error: expect.stringContaining('has not answered in time') }),
      expect.objectContaining({ failures: 2 }),
    ]);
  });
});
