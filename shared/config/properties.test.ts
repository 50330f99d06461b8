import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../errors.ts';
import { effectiveConfig } from './effective-config.ts';
import { fluxConfigSchema } from './flux-config.ts';
import { misspelt, nearest } from './nearest.ts';
import type { ConfigInputs } from './types.ts';

/** Returns true for valid inputs. Fails the test for any error other than a ConfigError with complete sentences. */
function isValid(inputs: ConfigInputs): boolean {
  try {
    effectiveConfig(inputs);
    return true;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.issues.length).toBeGreaterThan(0);
    for (const { object, message } of error.issues) {
      expect(object).not.toBe('');
      expect(message).not.toMatch(/undefined|\[object|NaN/);
    }
    return false;
  }
}

/** Returns inputs with a ConfigMap whose YAML is read. */
const read = async (data: Record<string, string>) => ({
  fluxConfig: { namespace: 'garden-foo', data },
});

const oneOf = (...values: unknown[]) => fc.oneof(fc.constantFrom(...values), { arbitrary: fc.jsonValue(), weight: 1 });
const sometimes = { requiredKeys: [] };
const duration = oneOf('1m', '30s', '0s', '1h30m', '', null, 'x');
const name = oneOf('flux-system', 'fleet', '', 'A', null);
const metadata = fc.record({ name, namespace: name, labels: oneOf({ a: 'b' }, null) }, sometimes);
const ref = fc.record(
  { branch: oneOf('main', 'a b'), tag: oneOf('v1', ''), semver: oneOf('1.x'), digest: oneOf('sha256:ab') },
  sometimes,
);
const url = oneOf('https://git.example.com/a', 'ssh://git@example.com/a', 'oci://ghcr.io/a/b', 'git@example.com:a');
const sourceSpec = fc.record(
  { url, ref, interval: duration, secretRef: fc.record({ name }, sometimes), bucketName: name, endpoint: name },
  sometimes,
);
const sourceTemplate = fc.record(
  {
    apiVersion: oneOf('source.toolkit.fluxcd.io/v1', 'source.toolkit.fluxcd.io/v1beta2', ''),
    kind: oneOf('GitRepository', 'OCIRepository', 'Bucket', 'HelmRelease'),
    metadata,
    spec: fc.oneof(sourceSpec, fc.jsonValue()),
  },
  sometimes,
);
const kustomizationTemplate = fc.record(
  {
    kind: oneOf('Kustomization', ''),
    metadata,
    spec: fc.record(
      {
        path: oneOf('./'),
        interval: duration,
        prune: oneOf(true),
        sourceRef: fc.record({ kind: name, name }, sometimes),
      },
      sometimes,
    ),
  },
  sometimes,
);
const flux = fc.record(
  {
    version: oneOf('v2.9.4', '2.9.x', 'latest'),
    namespace: name,
    components: oneOf(['source-controller', 'kustomize-controller'], [], ['x']),
    logLevel: oneOf('debug'),
    tolerationKeys: oneOf(['a']),
  },
  sometimes,
);
const providerConfig = fc.record(
  {
    flux: fc.oneof(flux, fc.jsonValue()),
    source: fc.record({ template: sourceTemplate, secretResourceName: oneOf('git', '') }, sometimes),
    kustomization: fc.record({ template: kustomizationTemplate }, sometimes),
    additionalSecretResources: oneOf([{ name: 'a' }], [{ name: 'a', targetName: 'b' }, { name: 'c' }]),
    syncMode: oneOf('Once', 'Reconcile'),
    suspend: oneOf(true, false),
  },
  sometimes,
);

const keys = Object.keys(fluxConfigSchema._zod.def.shape);
const fluxConfigData = fc.dictionary(
  fc.oneof(fc.constantFrom(...keys), fc.string()),
  fc.oneof(
    fc.constantFrom('true', 'private', 'main', '1m', 'https://git.example.com/a', 'git@example.com:a', 'scan', ''),
    fc.string(),
  ),
);

describe('effectiveConfig throws only ConfigErrors', () => {
  test('for any JSON as providerConfig', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void isValid({ providerConfig: value })));
  });

  test('for anything that resembles a FluxConfig', () => {
    fc.assert(fc.property(providerConfig, (value) => void isValid({ providerConfig: value, shootResources: [] })));
  });

  test('for any map of strings as data', () => {
    return fc.assert(fc.asyncProperty(fluxConfigData, async (data) => void isValid(await read(data))));
  });

  test('for both together', () => {
    return fc.assert(
      fc.asyncProperty(
        fluxConfigData,
        providerConfig,
        async (data, value) => void isValid({ ...(await read(data)), providerConfig: value }),
      ),
    );
  });

  test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('the key %s', (key) => {
    const hostile: unknown = JSON.parse(`{"${key}": {"a": 1}}`);
    expect(isValid({ providerConfig: hostile })).toBe(false);
    expect(isValid({ providerConfig: { flux: hostile } })).toBe(false);
    expect(isValid({ fluxConfig: { namespace: 'garden-foo', data: JSON.parse(`{"${key}": "a"}`) } })).toBe(false);
  });
});

describe('nearest', () => {
  test('returns the word itself, whatever its case', () => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), (word) => {
        expect(nearest(word.toUpperCase(), keys)).toBe(word);
        expect(misspelt(word, keys)).toBeUndefined();
      }),
    );
  });

  test('returns a known word or none', () => {
    fc.assert(fc.property(fc.string(), (word) => [undefined, ...keys].includes(nearest(word, keys))));
  });

  test('finds a word that lacks a letter', () => {
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.nat(), (word, at) => {
        const without = word.slice(0, at % word.length) + word.slice((at % word.length) + 1);
        expect(nearest(without, keys)).toBeDefined();
      }),
    );
  });
});
