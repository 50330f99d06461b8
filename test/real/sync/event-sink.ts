import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An event as the notification-controller sends it to a Provider of type `generic`. */
export interface SentEvent {
  involvedObject: { kind: string; name: string };
  reason: string;
  severity: string;
}

/** A service that receives the events of alerts. */
export interface EventSink extends AsyncDisposable {
  url: string;
  events(): SentEvent[];
}

export async function startEventSink(): Promise<EventSink> {
  const events: SentEvent[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    events.push(JSON.parse(text));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    events: () => events,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
