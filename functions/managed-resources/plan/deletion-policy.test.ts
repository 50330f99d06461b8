import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fluxConfigMapOf } from '../../../shared/config/flux-config-map.ts';
import { writtenDeletionPolicy } from './deletion-policy.ts';

const fluxConfig = (data: Record<string, string>) => fluxConfigMapOf('garden-foo', { data });
const ofProject = (data: Record<string, string>) => writtenDeletionPolicy({ fluxConfig: fluxConfig(data) });

it('counts beside keys that are not valid', () => {
  const providerConfig = { deletionPolicy: 'Orphan', unknown: 1, flux: [] };
  expect(writtenDeletionPolicy({ providerConfig })).toBe('Orphan');
  const broken = { deletionPolicy: ' Orphan\n', repositoryUrl: 'ftp://x', typo: 'x' };
  expect(ofProject(broken)).toBe('Orphan');
  expect(ofProject({ ...broken, deletionPolicy: 'Uninstall' })).toBe('Uninstall');
});

it('counts in a ConfigMap that is too large to be read', () => {
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, key) => [`key-${key}`, 'x']));
  expect(ofProject({ ...keys, deletionPolicy: 'Orphan' })).toBe('Orphan');
  expect(ofProject(keys)).toBeUndefined();
});

it('is that of the providerConfig where both set one', () => {
  const both = { fluxConfig: fluxConfig({ deletionPolicy: 'Orphan' }) };
  expect(writtenDeletionPolicy({ ...both, providerConfig: { deletionPolicy: 'Uninstall' } })).toBe('Uninstall');
  expect(writtenDeletionPolicy({ ...both, providerConfig: { deletionPolicy: '' } })).toBe('Orphan');
  expect(writtenDeletionPolicy({ ...both, providerConfig: null })).toBe('Orphan');
});

it('keeps Flux when it is neither of the two values', () => {
  const written = ['orphan', 'Keep', 'uninstall', 'Uninstall ', 1, true, ['Uninstall'], { policy: 'Uninstall' }];
  for (const deletionPolicy of written)
    expect(writtenDeletionPolicy({ providerConfig: { deletionPolicy } })).toBe('Orphan');
});

it('is unknown where a layer cannot be read or sets none, so that the record counts', () => {
  const other = { fluxConfig: fluxConfig({ deletionPolicy: 'Uninstall' }) };
  for (const providerConfig of ['{', 7, true, ['deletionPolicy'], [{ deletionPolicy: 'Orphan' }]]) {
    expect(writtenDeletionPolicy({ ...other, providerConfig })).toBeUndefined();
  }
  expect(writtenDeletionPolicy({})).toBeUndefined();
  expect(writtenDeletionPolicy({ fluxConfig: fluxConfig({ typo: 'x' }), providerConfig: {} })).toBeUndefined();
});

it('never throws, and never removes Flux unless Uninstall is written', () => {
  const value = fc.anything();
  fc.assert(
    fc.property(value, value, (data, providerConfig) => {
      const ofProject = { namespace: 'garden-foo', data: data as Record<string, string> };
      const layers = { fluxConfig: ofProject, providerConfig };
      const policy = writtenDeletionPolicy(layers);
      if (policy === 'Uninstall') expect(JSON.stringify(layers)).toContain('Uninstall');
      expect([undefined, 'Orphan', 'Uninstall']).toContain(policy);
    }),
    { seed: 9, numRuns: 500 },
  );
});
