import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../kube/resource.ts';
import {
  contentSecret,
  contentSecretName,
  lengthInContent,
  secretReference,
  unpackContent,
} from './managed-resource.ts';

function configMap(data: Record<string, unknown> = { key: 'value' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' }, data };
}

async function secretOf(...objects: KubeObject[]) {
  const secret = await contentSecret('shoot--foo--bar', 'shoot-flux-sync', objects);
  return secret as KubeObject & { data: Record<string, string> };
}

function text(secret: { data: Record<string, string> }): string {
  return brotliDecompressSync(Buffer.from(secret.data['data.yaml.br'] ?? '', 'base64')).toString('utf8');
}

const awkward = configMap({
  text: 'one\n---\ntwo: {}\n',
  yes: 'no',
  number: '012',
  sign: '\u0000\u007f\u0085\u009f\ufeff\u2028\u2029',
  smile: '😀',
  empty: null,
  list: [1, 1.5, true],
});

test('is an immutable Secret with the label of the garbage collector, named by its content', async () => {
  const secret = await secretOf(configMap());
  expect(secret).toMatchObject({
    kind: 'Secret',
    metadata: {
      namespace: 'shoot--foo--bar',
      name: contentSecretName('shoot-flux-sync', [configMap()]),
      labels: { 'resources.gardener.cloud/garbage-collectable-reference': 'true', origin: 'shoot-flux' },
    },
    type: 'Opaque',
    immutable: true,
  });
  expect(secret.metadata.name).toMatch(/^managedresource-shoot-flux-sync-[0-9a-f]{8}$/);
  expect(Object.keys(secret.data)).toEqual(['data.yaml.br']);
});

test('unpacks the content that was packed', async () => {
  const objects = [awkward, configMap({})];
  expect(unpackContent((await secretOf(...objects)).data)).toEqual(objects);
  expect(unpackContent((await secretOf()).data)).toEqual([]);
});

test('does not unpack, or quote, a Secret that others have written', () => {
  const packed = (text: string) => ({ 'data.yaml.br': brotliCompressSync(text).toString('base64') });
  expect(unpackContent({})).toBeUndefined();
  expect(unpackContent({ 'data.yaml.br': 'bm90IGJyb3RsaQ==' })).toBeUndefined();
  expect(unpackContent(packed('---\npassword: hunter2\n'))).toBeUndefined();
});

test.each([
  ...['null', '[]', '"text"', '{"apiVersion":"v1","kind":"X"}', '{"apiVersion":"v1","kind":"X","metadata":{}}'],
  ...['{"apiVersion":1,"kind":"X","metadata":{"name":"a"}}', '{"apiVersion":"v1","metadata":{"name":"a"}}'],
])('does not unpack a Secret that holds %s instead of an object', (document) => {
  const good = '{"apiVersion":"v1","kind":"X","metadata":{"name":"a"}}';
  const data = { 'data.yaml.br': brotliCompressSync(`---\n${good}\n---\n${document}\n`).toString('base64') };
  expect(unpackContent(data)).toBeUndefined();
});

test('is valid YAML, and does not begin like a JSON stream', async () => {
  const content = text(await secretOf(awkward, configMap({})));
  expect(content.startsWith('---\n{')).toBe(true);
  expect(parseAllDocuments(content).map((document) => document.toJS())).toEqual([awkward, configMap({})]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that YAML allows only escaped
  expect(content).not.toMatch(/[\u0000-\u0009\u007f-\u009f\u2028\u2029\ufeff]/);
});

test('has no line breaks of YAML 1.1 and no halves of surrogate pairs, which the resource-manager reads otherwise', async () => {
  const content = text(await secretOf(configMap({ 'a\ud800': 'one\u2028two\u2029three\u0085four \udfff😀\u0000' })));
  expect(content).toContain('{"a\ufffd":"one\\u2028two\\u2029three\\u0085four \ufffd😀\\u0000"}');
});

test('counts the bytes of a text as the content has them', async () => {
  const empty = text(await secretOf(configMap({ a: '' }))).length;
  const plain = ['', 'plain', 'a"b\\c', 'é漢😀', '\u2027\u2028\u2029\u202a', '\ufefd\ufeff\uffff'];
  const samples = [...plain, '\u0000\t\n', '\u007f\u0085\u009f\u00a0'];
  for (const sample of samples) {
    const content = Buffer.byteLength(text(await secretOf(configMap({ a: sample }))));
    // JSON has short forms for some control characters, which count in full.
    const short = sample.match(/[\t\n]/g)?.length ?? 0;
    expect(lengthInContent(sample)).toBe(content - empty + 4 * short);
  }
});

test('does not inflate a Secret of others without end', () => {
  const bomb = brotliCompressSync(Buffer.alloc(64 * 1024 * 1024, ' ')).toString('base64');
  expect(bomb.length).toBeLessThan(1000);
  expect(unpackContent({ 'data.yaml.br': bomb })).toBeUndefined();
});

test('keeps the names of contents without such characters', () => {
  expect(contentSecretName('x', [configMap({ text: 'é😀\t"\\', list: [1, 1.5, true, null] })])).toBe(
    'managedresource-x-d79fb3fb',
  );
});

test('is named by the content, not by the order of keys', () => {
  const name = (...objects: KubeObject[]) => contentSecretName('x', objects);
  expect(name(configMap({ a: 1, b: { c: 1, d: 2 } }))).toBe(name(configMap({ b: { d: 2, c: 1 }, a: 1 })));
  expect(name(configMap({ list: [1, 2] }))).not.toBe(name(configMap({ list: [2, 1] })));
  expect(name(configMap({ a: 1 }))).not.toBe(name(configMap({ a: 2 })));
});

test('trap 27: the reference annotation is named by the hash of the name', () => {
  const hash = createHash('sha256').update('managedresource-x-01234567').digest('hex').slice(0, 8);
  expect(secretReference('managedresource-x-01234567')).toEqual({
    [`reference.resources.gardener.cloud/secret-${hash}`]: 'managedresource-x-01234567',
  });
});
