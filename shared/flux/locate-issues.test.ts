import { expect, test } from 'vitest';
import type { ConfigInputs } from '../config/effective.ts';
import { ConfigError, errorMessage } from '../errors.ts';
import { locateIssues, MERGED_CONFIG } from './locate-issues.ts';

function located(path: string, inputs: ConfigInputs, object = MERGED_CONFIG): string {
  return errorMessage(locateIssues(new ConfigError([{ object, path, message: 'is wrong.' }]), inputs));
}

const fluxConfig = (data: Record<string, string>) => ({ namespace: 'garden-foo', data });

test.each([
  ['flux.version', { providerConfig: { flux: { version: 'v1' } } }, 'providerConfig: flux.version'],
  ['flux.version', { fluxConfig: fluxConfig({ fluxVersion: 'v1' }) }, 'ConfigMap garden-foo/flux-config: fluxVersion'],
  ['flux.namespace', { fluxConfig: fluxConfig({ namespace: 'a' }) }, 'ConfigMap garden-foo/flux-config: namespace'],
  ['flux.components', { providerConfig: { flux: { componentsExtra: ['a'] } } }, 'providerConfig: flux.componentsExtra'],
  [
    'flux.components[b]',
    { providerConfig: { flux: { components: ['a', 'b'], componentsExtra: ['c'] } } },
    'providerConfig: flux.components[1]',
  ],
  [
    'flux.components[b]',
    { providerConfig: { flux: { components: ['a'] } }, fluxConfig: fluxConfig({ componentsExtra: 'c, b' }) },
    'ConfigMap garden-foo/flux-config: componentsExtra',
  ],
  ['flux.components[b]', { providerConfig: null }, 'configuration: flux.components'],
  ['flux.version', { providerConfig: { flux: null } }, 'configuration: flux.version'],
  ['flux.version', { providerConfig: null, fluxConfig: fluxConfig({}) }, 'configuration: flux.version'],
  ['flux.frob', { providerConfig: { flux: { frob: 1 } } }, 'configuration: flux.frob'],
  ['flux.version', {}, 'configuration: flux.version'],
  ['source.template.spec.verify', { providerConfig: { source: {} } }, 'providerConfig: source.template.spec.verify'],
])('%s of %j is at %s', (path, inputs, where) => {
  expect(located(path, inputs)).toBe(`${where}: is wrong.`);
});

test('the layer that counts is named', () => {
  const inputs = { fluxConfig: fluxConfig({ fluxVersion: 'v1' }), providerConfig: { flux: { version: 'v2' } } };
  expect(located('flux.version', inputs)).toBe('providerConfig: flux.version: is wrong.');
});

test('what is located already, and other errors, stay', () => {
  const inputs = { providerConfig: { flux: { version: 'v1' } } };
  expect(located('flux.version', inputs, 'ConfigMap a/b')).toBe('ConfigMap a/b: flux.version: is wrong.');
  const other = new Error('other');
  expect(locateIssues(other, inputs)).toBe(other);
});
