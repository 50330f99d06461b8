import { expect, test } from 'vitest';
import { leastCpuMs } from '../testing.ts';
import { resources } from './resource.ts';
import { validObject } from './valid-object.ts';

const many = Array.from({ length: 70_000 }, (_, key) => `"key-${key}":"value"`).join();
const json = `{"metadata":{"name":"a","labels":{${many}}}}`;

test('tens of thousands of labels are checked about as fast as their keys are counted', () => {
  const value = JSON.parse(json);
  const counting = leastCpuMs(() => Object.keys(value.metadata.labels).length, 8);
  expect(validObject(resources.configMaps, value)).toBeDefined();
  // Four times as long with `Object.values`.
  expect(leastCpuMs(() => validObject(resources.configMaps, value), 8)).toBeLessThan(3 * counting);
});

test('a Secret whose data is not text is none: an object with a length would become as many bytes', () => {
  const secret = (data: unknown) => validObject(resources.secrets, { metadata: { name: 'a' }, data });
  for (const odd of [{ a: { length: 1e9 } }, { a: ['b'] }, { a: 1 }, { a: null }, ['b'], 'b']) {
    expect(secret(odd)).toBeUndefined();
  }
  for (const usual of [{ a: 'Yg==' }, {}, null, undefined]) expect(secret(usual)).toBeDefined();
});

test('a label with an odd value is found wherever it stands', () => {
  for (const odd of ['{"a":"b","c":1}', '{"a":null}', '{"__proto__":{}}', '["a"]', '"a"'])
    expect(validObject(resources.configMaps, JSON.parse(`{"metadata":{"name":"a","labels":${odd}}}`))).toBeUndefined();
});
