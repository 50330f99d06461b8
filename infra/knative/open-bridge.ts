import { createEventBridge } from '../../events/cloudevents/bridge.ts';
import { openSink, type SinkOptions } from '../../events/cloudevents/sink.ts';
import type { OpenSender } from '../../events/transport.ts';
import type { OwnProcess } from '../process/product.ts';
import { startEventServer } from './event-server.ts';

/** Where `watch` sends CloudEvents, and where it takes those that wait. */
interface KnativeOptions {
  functions: readonly string[];
  sink: SinkOptions;
  /** Port for changes that wait, and for dead letters. Absent: another bridge takes them. */
  eventsPort?: number | undefined;
}

/** An answer takes milliseconds here. */
const DRAIN_MS = 5_000;

/** Opens a sink, and takes what waits. @throws ShootFluxError when the port is not available */
export async function openKnativeBridge(
  { functions, sink, eventsPort }: KnativeOptions,
  own: OwnProcess,
): Promise<OpenSender> {
  const { sender, close } = openSink(sink);
  if (eventsPort === undefined) return { sender, stop: async () => close() };
  const bridge = createEventBridge({ functions, ...own });
  const { log, metrics } = own;
  const server = await startEventServer({ port: eventsPort, receive: bridge.receive, log, metrics });
  return {
    sender,
    deadLetters: bridge.deadLetters.list,
    async stop() {
      await server.stop(DRAIN_MS);
      close();
    },
  };
}
