import { describe, expect, it } from 'vitest';
import { queuesOf } from './queue-options.ts';

const endpoint = 'http://127.0.0.1:4566';

describe('the options for queues in SQS', () => {
  it('may be absent', () => {
    expect(queuesOf({})).toBeUndefined();
  });

  it('are passed on', () => {
    const values = { 'sqs-endpoint': endpoint, 'queue-prefix': 'shoot-flux-prod-', 'replace-seeds': true };
    expect(queuesOf(values)).toEqual({ endpoint, prefix: 'shoot-flux-prod-', replaceSeeds: true });
  });

  it.each([
    [{ 'sqs-endpoint': 'nonsense' }, '--sqs-endpoint nonsense is not a URL'],
    [{ 'sqs-endpoint': endpoint, 'queue-prefix': 'a.b' }, '--queue-prefix a.b is not 1 to 46 letters'],
    [{ 'sqs-endpoint': endpoint, 'queue-prefix': '' }, '--queue-prefix  is not 1 to 46 letters'],
    [{ 'sqs-endpoint': endpoint, 'queue-prefix': 'x'.repeat(47) }, 'is not 1 to 46 letters'],
    [{ 'queue-prefix': 'a-' }, '--queue-prefix is for queues in SQS; add --sqs-endpoint URL'],
    [{ 'replace-seeds': true }, '--replace-seeds is for queues in SQS; add --sqs-endpoint URL'],
  ])('refuse %j', (values, message) => {
    expect(() => queuesOf(values)).toThrow(message);
  });
});
