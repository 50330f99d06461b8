import { describe, expect, it } from 'vitest';
import { changeOf, recordOf } from '../testing.ts';
import { failedMessages } from './failures.ts';

const records = [recordOf(changeOf()), recordOf(changeOf()), recordOf(changeOf())];
const [first = '', second = '', third = ''] = records.map(({ messageId }) => messageId);
const failuresOf = (...ids: string[]) =>
  failedMessages({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) }, records);

describe('partial batch response', () => {
  it('keeps what it names', () => {
    expect(failuresOf(second)).toEqual(new Set([second]));
  });

  it.each([
    ['no answer', undefined],
    ['an empty list', { batchItemFailures: [] }],
  ])('is success with %s', (_, response) => {
    expect(failedMessages(response, records)).toEqual(new Set());
  });

  it.each([
    ['an empty identifier', ''],
    ['an identifier of another batch', 'b9f1'],
  ])('keeps everything with %s', (_, id) => {
    expect(failuresOf(second, id)).toEqual(new Set([first, second, third]));
  });
});
