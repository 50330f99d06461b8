import { ApiError } from './errors.ts';
import type { KubeObject } from './objects.ts';
import type { Call, Transport } from './transport.ts';

export interface WatchOptions {
  resourceVersion: string;
  timeoutSeconds: number;
  signal: AbortSignal;
}

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: KubeObject;
}

/**
 * Yields the events of one watch request until the server ends it or `signal` aborts.
 * @throws ApiError for an ERROR event
 */
export async function* watch(
  transport: Transport,
  call: Call,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  try {
    const response = await transport.open(call, signal);
    let rest = '';
    for await (const chunk of response.setEncoding('utf8')) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (signal.aborted) return;
        const event: WatchEvent = JSON.parse(line);
        if (event.type === 'ERROR') throw new ApiError(Number(event.object.code), event.object);
        yield event;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
