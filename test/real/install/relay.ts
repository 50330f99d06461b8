import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeEvent } from '../../../events/cloudevents/decode.ts';
import { encodeEvent } from '../../../events/cloudevents/encode.ts';
import { type CloudEvent, DELAY, typeOf } from '../../../events/cloudevents/event.ts';
import { listen } from '../../../infra/listen.ts';

/** The place of a broker: takes events, and delivers each to the functions or to the bridge. */
export interface Relay extends AsyncDisposable {
  url: string;
  /** The ports of the functions and of the bridge, as soon as they are known. */
  ports: { functions?: number; bridge?: number };
  /** The functions that have a Trigger; the broker drops the events of others. Default: all. */
  functions: readonly string[] | undefined;
  /** Replaces the data of an event on its way. */
  alter: (data: string, to: 'functions' | 'bridge') => string;
  /** The last answer to each event, after all its attempts. */
  answers: { to: 'functions' | 'bridge'; status: number }[];
}

/** Attempts for an event that is answered with a passing failure. */
const ATTEMPTS = 8;

export async function startRelay(): Promise<Relay> {
  const stopping = new AbortController();
  const server = createServer(async (request, response) => {
    const event = decodeEvent(request.headers, await text(request));
    response.writeHead(202).end();
    deliver(event).catch(() => {});
  });
  const deliver = async ({ attributes, data }: CloudEvent) => {
    const to = attributes.type === typeOf(DELAY) ? 'bridge' : 'functions';
    const isSubscribed = to === 'bridge' || (relay.functions?.some((name) => attributes.type === typeOf(name)) ?? true);
    if (!isSubscribed) return;
    const sent = encodeEvent({ attributes, data: relay.alter(data, to) });
    for (let attempt = 1; attempt <= ATTEMPTS && !stopping.signal.aborted; attempt++) {
      const status = await post(relay.ports[to], sent);
      const isPassing = status === 0 || status === 429 || status >= 500;
      if (!isPassing || attempt === ATTEMPTS) return void relay.answers.push({ to, status });
      await pause(250 * attempt, undefined, { signal: stopping.signal });
    }
  };
  const port = await listen(server, 0);
  const relay: Relay = {
    url: `http://127.0.0.1:${port}/`,
    ports: {},
    functions: undefined,
    alter: (data) => data,
    answers: [],
    async [Symbol.asyncDispose]() {
      stopping.abort();
      server.close();
      server.closeAllConnections();
    },
  };
  return relay;
}

/** @returns the status; 0 without an answer */
async function post(
  port: number | undefined,
  sent: { headers: Record<string, string>; body: string },
): Promise<number> {
  if (port === undefined) return 0;
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', ...sent }).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.status ?? 0;
}
