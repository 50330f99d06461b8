import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type CloudEvent, decodeEvent, type Encoded } from './event.ts';

/** Returns the request that carries an event in structured mode, with its attributes in the body. */
export function structuredEvent({ attributes, data }: CloudEvent): Encoded {
  const envelope = { ...attributes, datacontenttype: 'application/json', data: JSON.parse(data) };
  return { headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' }, body: JSON.stringify(envelope) };
}

/** An HTTP server that keeps the events it receives. */
export interface TestSink extends AsyncDisposable {
  url: string;
  events: CloudEvent[];
  headers: IncomingHttpHeaders[];
  /** Answers this to each event; 0 answers never. */
  status: number | ((event: CloudEvent) => number);
}

export async function startTestSink(): Promise<TestSink> {
  const server = createServer(async (request, response) => {
    const event = decodeEvent(request.headers, await text(request));
    const status = typeof sink.status === 'number' ? sink.status : sink.status(event);
    sink.headers.push(request.headers);
    if (status >= 200 && status < 300) sink.events.push(event);
    if (status > 0) response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sink: TestSink = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ns/broker`,
    events: [],
    headers: [],
    status: 202,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
  return sink;
}
