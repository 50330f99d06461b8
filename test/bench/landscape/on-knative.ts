import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Receive } from '../../../events/cloudevents/answer.ts';
import { createEventBridge } from '../../../events/cloudevents/bridge.ts';
import { decodeEvent } from '../../../events/cloudevents/decode.ts';
import { type CloudEvent, DELAY, typeOf } from '../../../events/cloudevents/event.ts';
import { serveFunctions } from '../../../events/cloudevents/serve.ts';
import { openSink } from '../../../events/cloudevents/sink.ts';
import { noMetrics as metrics } from '../../../shared/runtime/metrics.ts';
import { partsOf, type StartApart } from './apart.ts';

const CONCURRENCY = 20;
/** As the Broker retries. */
const RETRIES = 5;
const RETRY_MS = 500;

/** Starts watcher, bridge and functions with a broker between them, which counts the events that it takes. */
export const startOnKnative: StartApart = async (connection, log) => {
  const { functions, health, dependenciesOf, watch } = await partsOf(connection, log);
  let events = 0;
  const receivers: { bridge?: Receive; functions?: Receive } = {};
  const url = await startBroker((event) => {
    events++;
    const receive = event.attributes.type === typeOf(DELAY) ? receivers.bridge : receivers.functions;
    if (receive !== undefined) void deliver(event, receive);
  });
  const { sender } = openSink({ url });
  const names = functions.map(({ definition }) => definition.name);
  receivers.bridge = createEventBridge({ functions: names, sender, health, log, metrics }).receive;
  receivers.functions = serveFunctions({
    functions: functions
      .filter(({ definition }) => definition.queue !== 'standard')
      .map((queueFunction) => ({ queueFunction, dependencies: dependenciesOf(queueFunction.definition.name) })),
    sender,
    concurrency: CONCURRENCY,
  });
  watch((changes) => sender.send(changes));
  return () => ({ fifo: 0, standard: 0, messages: 0, events });
};

/** Takes events, answers at once, and delivers them afterwards, as a Broker with an asynchronous handler does. */
async function startBroker(take: (event: CloudEvent) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    take(decodeEvent(request.headers, await text(request)));
    response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/bench/broker`;
}

async function deliver(event: CloudEvent, receive: Receive): Promise<void> {
  for (let attempt = 0; attempt <= RETRIES; attempt++) {
    const { status } = await receive(event).catch(() => ({ status: 503 }));
    if (status !== 503) return;
    await sleep(RETRY_MS * 2 ** attempt);
  }
}
