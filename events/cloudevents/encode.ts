import type { CloudEvent } from './event.ts';

/** Where the attributes of an event are: in the headers, or beside the data in the body. */
export type Mode = 'binary' | 'structured';

/** The headers and the body of a request that carries an event. */
export interface Encoded {
  headers: Record<string, string>;
  body: string;
}

/** Returns the request that carries an event. */
export function encodeEvent({ attributes, data }: CloudEvent, mode: Mode = 'binary'): Encoded {
  if (mode === 'structured') {
    const envelope = { ...attributes, datacontenttype: 'application/json', data: JSON.parse(data) };
    return {
      headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
      body: JSON.stringify(envelope),
    };
  }
  const headers = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, escaped(value)]);
  return { headers: { ...Object.fromEntries(headers), 'content-type': 'application/json' }, body: data };
}

/** Headers carry printable ASCII; the HTTP binding of CloudEvents escapes the rest, and its own escape characters. */
function escaped(value: string): string {
  return value.replace(/[^!#$&-~]/gu, (character) => encodeURIComponent(character));
}
