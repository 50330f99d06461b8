import { expect, it } from 'vitest';
import { destinationOf } from './watch.ts';

it.each([
  [{ 'queue-prefix': 'a-', 'sqs-endpoint': 'nonsense' }, '--sqs-endpoint nonsense is not a URL'],
  [{ 'queue-prefix': 'a.b' }, '--queue-prefix a.b is not 1 to 46 letters'],
  [{ 'queue-prefix': '' }, '--queue-prefix  is not 1 to 46 letters'],
  [{ 'queue-prefix': 'x'.repeat(47) }, 'is not 1 to 46 letters'],
])('queues of %j are refused', (values, message) => {
  expect(() => destinationOf(values, {})).toThrow(message);
});
