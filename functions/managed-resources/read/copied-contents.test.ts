import { describe, expect, it, test } from 'vitest';
import { ConfigError } from '../../../shared/errors.ts';
import { fluxOnly } from '../../../shared/flux/testing.ts';
import { copiedLabels, countCopies, projectContent } from './copied-contents.ts';

const ANNOTATION = 'gardener-extension-shoot-flux/copy-labels';
const labelsOf = (labels: Record<string, string>, asks?: string) =>
  copiedLabels({
    ...{ apiVersion: 'v1', kind: 'Secret' },
    metadata: { name: 'ref-git', labels, ...(asks !== undefined && { annotations: { [ANNOTATION]: asks } }) },
  });

describe('copiedLabels', () => {
  it.each(['true', 'True', 'TRUE', 't', 'T', '1'])('returns the labels if the annotation is %s', (asks) => {
    expect(labelsOf({ team: 'blue' }, asks)).toEqual({ team: 'blue' });
  });

  it.each(['false', '', 'yes', '0'])('returns nothing if the annotation is "%s"', (asks) => {
    expect(labelsOf({ team: 'blue' }, asks)).toBeUndefined();
  });

  it('returns nothing without the annotation', () => {
    expect(labelsOf({ team: 'blue' })).toBeUndefined();
  });

  it('leaves out the labels of Gardener', () => {
    const ofGardener = {
      'resources.gardener.cloud/managed-by': 'gardener',
      'shoot.gardener.cloud/no-cleanup': 'true',
      'gardener.cloud/role': 'x',
    };
    expect(labelsOf({ ...ofGardener, 'example.com/gardener.cloud': 'stays' }, 'true')).toEqual({
      'example.com/gardener.cloud': 'stays',
    });
    expect(labelsOf(ofGardener, 'true')).toBeUndefined();
  });
});

const KIB = 1024;
const origins = {
  additionalSecrets: { object: 'providerConfig', path: 'additionalSecretResources' },
  'source.spec.secretRef': { object: 'ConfigMap garden-foo/flux-config', path: 'repositoryType' },
};
const copy = { origin: { type: 'resource', resourceName: 'a' }, namespace: 'flux-system' } as const;
const config = fluxOnly({ origins, additionalSecrets: [copy] });
const secret = (bytes: number, name = 'small') => ({
  name,
  namespace: 'flux-system',
  type: 'Opaque',
  data: { a: 'x'.repeat(bytes - 1) },
});
const configMap = (text: string) => ({ name: 'vars', namespace: 'flux-system', data: { a: text } });

test('copies up to the limit are accepted', () => {
  const count = countCopies(config);
  for (let copies = 0; copies < 128; copies++) count(secret(10 * KIB));
  expect(() => count(secret(1))).toThrow(ConfigError);
});

it('names the largest copy', () => {
  const count = countCopies(config);
  count(secret(10 * KIB));
  count(secret(1000 * KIB, 'large'));
  expect(() => count(secret(500 * KIB))).toThrow(
    'providerConfig: additionalSecretResources copies more than 1,280 KiB in all; flux-system/large alone has 1,000 KiB. Copy fewer or smaller objects',
  );
});

it('counts characters as the content has them, and binaryData too', () => {
  expect(() => countCopies(config)(configMap('\u0085'.repeat(300 * KIB)))).toThrow('vars alone has 1,801 KiB');
  expect(() => countCopies(config)(configMap('x'.repeat(300 * KIB)))).not.toThrow();
  const binaryData = { a: 'A'.repeat(1300 * KIB) };
  expect(() => countCopies(config)({ name: 'vars', namespace: 'b', binaryData })).toThrow('b/vars alone has 1,301 KiB');
});

it('names the source where nothing else is copied', () => {
  expect(() => countCopies(fluxOnly({ origins }))(secret(1300 * KIB, 'flux-source'))).toThrow(
    'ConfigMap garden-foo/flux-config: repositoryType copies more than 1,280 KiB in all; flux-system/flux-source alone has 1,300 KiB. Copy fewer or smaller objects',
  );
});

it('names a Secret of the project, which no part of the configuration asks for', () => {
  const name = 'flux-variables';
  const ofProject = { origin: { type: 'project', name }, targetName: name, namespace: 'flux-system' } as const;
  const count = countCopies(fluxOnly({ origins, additionalSecrets: [ofProject] }), 'garden-foo');
  expect(() => count(secret(1300 * KIB, name))).toThrow(
    'Secret garden-foo/flux-variables has 1,300 KiB, but all copies for the shoot may have at most 1,280 KiB together; make it smaller',
  );
});

it('takes the certificate of a registry out of its credentials, into a Secret whose type Flux accepts', () => {
  const type = 'kubernetes.io/dockerconfigjson';
  const data = { '.dockerconfigjson': 'e30=', 'ca.crt': 'LS0t', other: 'eA==' };
  const original = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'flux-registry' }, type, data };
  const contentOf = (targetName: string) => {
    const origin = { type: 'project', name: 'flux-registry' } as const;
    return projectContent(original, { origin, targetName, namespace: 'apps' }, 'flux-registry');
  };
  expect(contentOf('flux-registry')).toMatchObject({ type, data: { '.dockerconfigjson': 'e30=' } });
  expect(Object.keys(contentOf('flux-registry').data)).toEqual(['.dockerconfigjson']);
  const certificate = { name: 'flux-registry-ca', namespace: 'apps', type: 'Opaque', data: { 'ca.crt': 'LS0t' } };
  expect(contentOf('flux-registry-ca')).toEqual(certificate);
});
