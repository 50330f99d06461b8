import { describe, expect, it } from 'vitest';
import {
  type Activity,
  type ActivityName,
  activities,
  latencies,
  lineOf,
  measureTexts,
  usage,
} from '../../infra/docs/cost/inputs.ts';
import { benches } from '../bench/benches.ts';

const lines = (await benches()).flatMap(({ name, lines }) => lines.map((line) => ({ bench: name, ...line })));
const limitOf = (bench: string, what: string) =>
  lines.find((line) => line.bench === bench && line.what === what)?.atMost;

const counted = (Object.keys(activities) as ActivityName[]).flatMap((activity) =>
  (Object.keys(measureTexts) as (keyof Activity)[]).map((measure) => ({
    line: lineOf(activity, measure),
    value: activities[activity][measure],
  })),
);

describe('the inputs of the model of costs', () => {
  it.each([...Object.values(usage), ...Object.values(latencies)])(
    '“$line” is the limit of a line of the bench $bench',
    ({ bench, line, value }) => {
      expect(limitOf(bench, line)).toBe(value);
    },
  );

  it.each(counted)('“$line” is the limit of a line of the bench cost', ({ line, value }) => {
    expect(limitOf('cost', line)).toBe(value);
  });
});
