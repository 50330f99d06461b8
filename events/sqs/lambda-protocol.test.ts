import { describe, expect, it } from 'vitest';
import { changeOf, recordOf } from '../testing.ts';
import { failedMessages } from './lambda-protocol.ts';

const records = [recordOf(changeOf()), recordOf(changeOf()), recordOf(changeOf())];
const [first = '', second = '', third = ''] = records.map(({ messageId }) => messageId);
const failuresOf = (...ids: string[]) =>
  failedMessages({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) }, records);

describe('failedMessages', () => {
  it('keeps the messages that the response names', () => {
    expect(failuresOf(second)).toEqual(new Set([second]));
  });

  it.each([
    ['no answer', undefined],
    ['an empty list', { batchItemFailures: [] }],
  ])('keeps no message with %s', (_, response) => {
    expect(failedMessages(response, records)).toEqual(new Set());
  });

  it.each([
    ['an empty identifier', ''],
    ['an identifier of another batch', 'b9f1'],
  ])('keeps every message with %s', (_, id) => {
    expect(failuresOf(second, id)).toEqual(new Set([first, second, third]));
  });
});
