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

const keys = Object.keys(fluxConfigSchema._zod.def.shape);

describe('effectiveConfig throws only ConfigErrors', () => {
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
