import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Receive } from '../../events/cloudevents/answer.ts';
import { encodeEvent, eventOf } from '../../events/cloudevents/event.ts';
import { changeOf, keptLog } from '../../events/testing.ts';
import { RetryableError, TerminalError } from '../../shared/errors.ts';
import { createPrometheusMetrics } from '../process/metrics.ts';
import { startEventServer } from './event-server.ts';

const { headers, body } = encodeEvent(eventOf(changeOf(), new Date()));

async function start(receive: Receive) {
  const { log } = keptLog();
  const server = await startEventServer({ port: 0, receive, log, metrics: createPrometheusMetrics() });
  return { ...server, url: `http://127.0.0.1:${server.port}/` };
}

const post = (url: string, content = body, agent?: Agent) =>
  new Promise<{ status: number | undefined; text: string; connection: string | undefined }>((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, ...(agent && { agent }) }, async (response) => {
      const { statusCode: status, headers: answered } = response;
      resolve({ status, text: await text(response), connection: answered.connection });
    });
    sent.once('error', reject).end(content);
  });

describe('the server of events', () => {
  it('answers without a body when an event is taken, because a body would be a reply', async () => {
    const server = await start(async () => ({ status: 204 }));
    expect(await post(server.url)).toMatchObject({ status: 204, text: '' });
    expect(await (await fetch(`${server.url}metrics`)).text()).toContain(
      'shoot_flux_cloudevents_total{status="204"} 1',
    );
    await server.stop(1000);
  });

  it.each([
    [new TerminalError('Never.'), 422, 'Never.\n'],
    [new RetryableError('Not yet.'), 503, 'Not yet.\n'],
  ])('answers %s with %i', async (error, status, sentence) => {
    const server = await start(async () => Promise.reject(error));
    expect(await post(server.url)).toMatchObject({ status, text: sentence });
    await server.stop(1000);
  });

  it("answers so briefly that Knative's dispatcher can encode it, wrapped by its filter", async () => {
    const server = await start(async () => Promise.reject(new TerminalError(`${'é'.repeat(3)} ${'語 '.repeat(400)}`)));
    const { text } = await post(server.url);
    expect(text).toContain('語');
    const errdestination = 'http://shoot-flux-managed-resources.shoot-flux.svc.cluster.local/';
    const errresponsebody = Buffer.from(text).toString('base64');
    expect(JSON.stringify({ errdestination, errresponsebody }).length).toBeLessThanOrEqual(768);
    await server.stop(1000);
  });

  it('answers 400 for requests that are no events, and for long ones', async () => {
    const server = await start(async () => ({ status: 204 }));
    expect((await fetch(server.url, { method: 'POST', body: '{}' })).status).toBe(400);
    expect(await post(server.url, 'x'.repeat(70_000))).toMatchObject({ status: 400 });
    expect((await fetch(server.url, { method: 'PUT', body: '{}' })).status).toBe(405);
    await server.stop(1000);
  });

  it('finishes events under way when it stops, and refuses others on open connections for now', async () => {
    const [begun, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = await start(async () => {
      begun.resolve();
      await finish.promise;
      return { status: 204 };
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const [first, second] = [post(server.url, body, agent), post(server.url, body, agent)];
    await begun.promise;
    const stopped = server.stop(10_000);
    finish.resolve();
    expect(await first).toMatchObject({ status: 204 });
    // The connection was closed, or the request was refused: either way, the broker sends the event again.
    expect(await second.catch(() => ({ status: 503 }))).toMatchObject({ status: 503 });
    await stopped;
    await expect(fetch(`${server.url}healthz`)).rejects.toThrow();
    agent.destroy();
  });
});
