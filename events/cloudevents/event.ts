import type { IncomingHttpHeaders } from 'node:http';
import { TerminalError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import { fieldsOf, parsedJson } from '../../shared/shapes.ts';
import { changeId, encodeChange, keyId } from '../change.ts';

/** The attributes of a CloudEvent, without `datacontenttype`; all values are texts. */
export type Attributes = Readonly<Record<string, string>>;

/** A CloudEvent of version 1.0 whose data is JSON. */
export interface CloudEvent {
  attributes: Attributes;
  /** The data as JSON text. */
  data: string;
}

/** The function whose changes wait: the bridge takes them, and sends each one when it is due. */
export const DELAY = 'delay';

/** An error quotes this much of a foreign type. */
export const LONGEST_TYPE = 100;

/** Returns the type of the events that a function takes; the filter of its Trigger. */
export function typeOf(name: string): string {
  return `dev.shoot-flux.${name}.change.v1`;
}

/**
 * Returns the event that carries a change. Two sends of the same change have equal ids and sources, so that duplicates
 * are recognised, and `partitionkey` is equal for all changes of a key, so that a broker with partitions keeps their order.
 */
export function eventOf(change: ChangeRequest, now: Date): CloudEvent {
  return event(change, { type: typeOf(change.function), id: changeId(change) }, now);
}

/** Returns the event that carries a change to the bridge, which sends it when it is due. */
export function delayedEventOf(change: ChangeRequest, now: Date): CloudEvent {
  return event(change, { type: typeOf(DELAY), id: `${DELAY}-${changeId(change)}` }, now);
}

function event(change: ChangeRequest, own: { type: string; id: string }, now: Date): CloudEvent {
  const { cluster, namespace, name } = change.key;
  const attributes = {
    specversion: '1.0',
    ...own,
    source: `/shoot-flux/clusters/${encodeURIComponent(cluster)}`,
    subject: `${namespace}/${name}`,
    time: now.toISOString(),
    partitionkey: keyId(change),
  };
  return { attributes, data: encodeChange(change) };
}

/** The headers and the body of a request that carries an event. */
export interface Encoded {
  headers: Record<string, string>;
  body: string;
}

/** Returns the request that carries an event, with its attributes in the headers (binary mode). */
export function encodeEvent({ attributes, data }: CloudEvent): Encoded {
  const headers = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, escaped(value)]);
  return { headers: { ...Object.fromEntries(headers), 'content-type': 'application/json' }, body: data };
}

/** Headers carry printable ASCII; the HTTP binding of CloudEvents escapes the rest, and its own escape characters. */
function escaped(value: string): string {
  return value.replace(/[^!#$&-~]/gu, (character) => encodeURIComponent(character));
}

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
  const fields = fieldsOf(parsedJson(body));
  if (fields === undefined) throw wrong('its body is not a JSON object');
  const { data, data_base64: encoded, datacontenttype: _, ...others } = fields;
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
