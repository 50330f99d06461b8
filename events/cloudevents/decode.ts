import type { IncomingHttpHeaders } from 'node:http';
import { TerminalError } from '../../shared/errors.ts';
import type { CloudEvent } from './event.ts';

const STRUCTURED = 'application/cloudevents+json';
const NAME = /^[a-z0-9]{1,40}$/;

/**
 * Returns the event of a request, in binary or structured mode.
 * @throws TerminalError that names what is wrong, never its content: the sender is unknown
 */
export function decodeEvent(headers: IncomingHttpHeaders, body: string): CloudEvent {
  const type = (headers['content-type'] ?? '').toLowerCase().split(';', 1)[0]?.trim() ?? '';
  const event = type === STRUCTURED ? structured(body) : binary(headers, type, body);
  const { specversion } = event.attributes;
  if (specversion !== '1.0') throw wrong('specversion is not 1.0');
  const absent = ['id', 'source', 'type'].find((name) => !event.attributes[name]);
  if (absent !== undefined) throw wrong(`${absent} is missing`);
  return event;
}

function binary(headers: IncomingHttpHeaders, type: string, body: string): CloudEvent {
  if (type !== 'application/json' && !type.endsWith('+json')) {
    throw wrong('its content type is neither application/json nor application/cloudevents+json');
  }
  const attributes = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('ce-') && typeof value === 'string' ? [[name.slice(3), unescaped(value)]] : [],
  );
  return { attributes: Object.fromEntries(attributes), data: body };
}

function structured(body: string): CloudEvent {
  const { data, data_base64: encoded, datacontenttype: _, ...others } = object(body);
  const attributes = Object.entries(others).flatMap(([name, value]) =>
    NAME.test(name) && ['string', 'number', 'boolean'].includes(typeof value) ? [[name, String(value)]] : [],
  );
  return { attributes: Object.fromEntries(attributes), data: dataText(data, encoded) };
}

function dataText(data: unknown, encoded: unknown): string {
  if (typeof encoded === 'string') return Buffer.from(encoded, 'base64').toString();
  if (data === undefined) throw wrong('data is missing');
  // Data of JSON that a sender has put into a text.
  return typeof data === 'string' ? data : JSON.stringify(data);
}

function object(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // The message of a SyntaxError quotes the text.
  }
  throw wrong('its body is not a JSON object');
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function wrong(problem: string): TerminalError {
  return new TerminalError(`The request is not a CloudEvent of version 1.0: ${problem}; send it in that form.`);
}
