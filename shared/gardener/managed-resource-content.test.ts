import { createHash } from 'node:crypto';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../kube/resource.ts';
import { contentSecret, contentSecretName, secretReference, unpackContent } from './managed-resource-content.ts';

function configMap(data: Record<string, unknown> = { key: 'value' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'b' }, data };
}

function secretOf(...objects: KubeObject[]) {
  const secret = contentSecret('shoot--foo--bar', 'shoot-flux-sync', objects);
  return secret as KubeObject & { data: Record<string, string> };
}

function text(secret: { data: Record<string, string> }): string {
  return brotliDecompressSync(Buffer.from(secret.data['data.yaml.br'] ?? '', 'base64')).toString('utf8');
}

const awkward = configMap({
  text: 'one\n---\ntwo: {}\n',
  yes: 'no',
  number: '012',
  sign: '\u007f\u0085\ufeff\u2028',
  smile: '😀',
  empty: null,
  list: [1, 1.5, true],
});

test('is an immutable Secret with the label of the garbage collector, named by its content', () => {
  const secret = secretOf(configMap());
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

test('gives one list the same content in many Shoots', () => {
  const objects = [awkward];
  const [one, other] = ['shoot--foo--bar', 'shoot--foo--baz'].map((namespace) =>
    contentSecret(namespace, 'x', objects),
  );
  expect(one?.data).toEqual(other?.data);
  expect(one?.metadata.name).toBe(contentSecretName('x', [awkward]));
  expect(one?.metadata.namespace).not.toBe(other?.metadata.namespace);
});

test('unpacks the content that was packed', () => {
  const objects = [awkward, configMap({})];
  expect(unpackContent(secretOf(...objects).data)).toEqual(objects);
  expect(unpackContent(secretOf().data)).toEqual([]);
});

test('does not unpack, or quote, a Secret that others have written', () => {
  const packed = (text: string) => ({ 'data.yaml.br': brotliCompressSync(text).toString('base64') });
  expect(unpackContent({})).toBeUndefined();
  expect(unpackContent({ 'data.yaml.br': 'bm90IGJyb3RsaQ==' })).toBeUndefined();
  expect(unpackContent(packed('---\npassword: hunter2\n'))).toBeUndefined();
});

test('is valid YAML, and does not begin like a JSON stream', () => {
  const content = text(secretOf(awkward, configMap({})));
  expect(content.startsWith('---\n{')).toBe(true);
  expect(parseAllDocuments(content).map((document) => document.toJS())).toEqual([awkward, configMap({})]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that YAML allows only escaped
  expect(content).not.toMatch(/[\u0000-\u0009\u007f-\u009f\ufeff]/);
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
