import { brotliCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type ContentSecret, decodeContent } from './content.ts';

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
const secret = (data: Record<string, string>): ContentSecret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'n' },
  data,
});
const yaml = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;
const names = (...secrets: ContentSecret[]) => decodeContent(secrets).objects.map(({ metadata }) => metadata.name);

it('reads keys in order, and decompresses keys that end in .br with Brotli', () => {
  const packed = base64(brotliCompressSync(Buffer.from(`---\n${yaml('b1')}---\n${yaml('b2')}`)));
  expect(
    names(
      secret({ 'c.yaml': base64(yaml('c')), 'b.yaml.br': packed, a: base64('{"kind":"X","metadata":{"name":"a"}}') }),
    ),
  ).toEqual(['a', 'b1', 'b2', 'c']);
});

it('skips empty documents', () => {
  expect(names(secret({ a: base64(`---\n# nothing\n---\n${yaml('a')}---\n`) }))).toEqual(['a']);
});

it('reports where content cannot be decoded, and uses the rest', () => {
  const { objects, errors } = decodeContent([secret({ a: base64(`---\n${yaml('a')}---\nkind: {`) })]);
  expect(objects).toHaveLength(1);
  expect(errors).toEqual([expect.stringMatching(/^Could not decode resource at index \d in 'a' in secret 'n\/s': /)]);
});

it('reads text that begins with a brace as JSON only', () => {
  const { objects, errors } = decodeContent([
    secret({ a: base64(`{"kind":"X","metadata":{"name":"a"}}\n---\n${yaml('b')}`) }),
  ]);
  expect(objects.map(({ metadata }) => metadata.name)).toEqual(['a']);
  expect(errors).toHaveLength(1);
});
