import { createServer } from 'node:http';
import { listen } from '../cluster/ports.ts';

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
  const listening = await listen(server);
  return { ...listening, url: `http://${listening.host}/`, events: () => events };
}
