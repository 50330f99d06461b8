import { describe, expect, it } from 'vitest';
import { fluxOnly, object } from '../../../shared/flux/testing.ts';
import { rootObject } from './plan.ts';

const kustomization = object('Kustomization', 'main', { metadata: { name: 'main', namespace: 'flux-system' } });
const rootWith = (origins: Record<string, { object: string; path: string }>) => {
  const root = rootObject([kustomization], fluxOnly({ kustomization, origins }), 'kustomization');
  return { place: root?.place, patched: root?.patched };
};
const fluxConfig = 'ConfigMap garden-foo/flux-config';

describe('the record says where the root Kustomization is written', () => {
  it.each([
    ['in keys of flux-config', { 'kustomization.spec.path': { object: fluxConfig, path: 'repositoryPath' } }],
    [
      'as template of a providerConfig',
      { kustomization: { object: 'providerConfig', path: 'kustomization.template' } },
    ],
  ])('unless it is %s', (_where, origins) => {
    expect(rootWith(origins)).toEqual({});
  });

  it.each(['config.yaml.kustomization.template', 'kustomizations[0].template'])('at %s', (path) => {
    const place = { object: fluxConfig, path };
    expect(rootWith({ kustomization: place })).toEqual({ place });
  });

  it('and which fields patches set', () => {
    const path = { object: 'providerConfig', path: 'kustomization.patch.spec.path' };
    const interval = { object: fluxConfig, path: 'kustomizationInterval' };
    const origins = { 'kustomization.spec.path': path, 'kustomization.spec.interval': interval };
    expect(rootWith(origins)).toEqual({ patched: { 'spec.path': path } });
  });
});
