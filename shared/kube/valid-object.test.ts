import { expect, test } from 'vitest';
import { resources } from './resource.ts';
import { validObject } from './valid-object.ts';

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
