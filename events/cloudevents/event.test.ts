import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChange } from '../change.ts';
import { causeOf, changeOf } from '../testing.ts';
import { decodeEvent, delayedEventOf, encodeEvent, eventOf } from './event.ts';
import { structuredEvent } from './testing.ts';

const now = new Date('2026-05-01T12:00:00.000Z');

describe('an event', () => {
  it('has id and source of the change, so that duplicates are recognised', () => {
    const [first, again] = [eventOf(changeOf(), now), eventOf(changeOf(), new Date())];
    expect(again.attributes.id).toBe(first.attributes.id);
    expect(again.attributes.source).toBe(first.attributes.source);
    const other = eventOf(changeOf({ cause: causeOf({ resourceVersion: '2' }) }), now);
    expect(other.attributes.id).not.toBe(first.attributes.id);
    expect(other.attributes.partitionkey).toBe(first.attributes.partitionkey);
    expect(first.attributes).toMatchObject({
      specversion: '1.0',
      type: 'dev.shoot-flux.managed-resources.change.v1',
      source: '/shoot-flux/clusters/local',
      subject: 'shoot--dev--apple/shoot-flux',
    });
  });

  it('that waits is no duplicate of the one that is sent when it is due', () => {
    const change = changeOf({ cause: { type: 'notBefore', notBefore: now.toISOString() } });
    const [waits, due] = [delayedEventOf(change, now), eventOf(change, now)];
    expect(waits.attributes.type).toBe('dev.shoot-flux.delay.change.v1');
    expect(waits.attributes.id).not.toBe(due.attributes.id);
    expect(parseChange(waits.data)).toEqual(parseChange(due.data));
  });

  it.each([
    ['binary', encodeEvent],
    ['structured', structuredEvent],
  ])('survives the way in %s mode', (_, encode) => {
    const name = fc.stringMatching(/^[!-.0-~]{1,40}$/);
    fc.assert(
      fc.property(name, name, fc.string({ unit: 'grapheme' }), (cluster, namespace, extension) => {
        const event = eventOf(changeOf({ key: { cluster, namespace, name: 'shoot-flux' } }), now);
        const sent = { ...event, attributes: { ...event.attributes, landscape: extension } };
        const { headers, body } = encode(sent);
        for (const value of Object.values(headers)) expect(value).toMatch(/^[ -~]*$/);
        const received = decodeEvent(headers, body);
        expect(received.attributes).toEqual(sent.attributes);
        expect(parseChange(received.data)).toEqual(parseChange(sent.data));
      }),
    );
  });
});

describe('a request that is no event', () => {
  const { headers, body } = encodeEvent(eventOf(changeOf(), now));
  const structured = structuredEvent(eventOf(changeOf(), now));
  const cut = (object: Record<string, string>, name: string) =>
    Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

  it.each([
    ['no version', cut(headers, 'ce-specversion'), body, 'specversion is not 1.0'],
    ['no id', cut(headers, 'ce-id'), body, 'id is missing'],
    ['a form', { ...headers, 'content-type': 'text/plain' }, body, 'content type'],
    ['no JSON', structured.headers, '{"password": secret', 'not a JSON object'],
    ['a list', structured.headers, '[]', 'not a JSON object'],
    ['no data', structured.headers, '{"specversion":"1.0","id":"1","source":"/","type":"t"}', 'data is missing'],
  ])('is refused: %s', (_, badHeaders, badBody, problem) => {
    expect(() => decodeEvent(badHeaders, badBody)).toThrow(problem);
    expect(() => decodeEvent(badHeaders, badBody)).not.toThrow('secret');
  });

  it('reads data in Base64', () => {
    const { data, ...envelope } = JSON.parse(structured.body);
    const encoded = { ...envelope, data_base64: Buffer.from(JSON.stringify(data)).toString('base64') };
    expect(parseChange(decodeEvent(structured.headers, JSON.stringify(encoded)).data)).toEqual(parseChange(body));
  });
});
