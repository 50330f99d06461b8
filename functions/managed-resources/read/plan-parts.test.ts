import { expect, test } from 'vitest';
import { standInRelease } from '../../../shared/flux/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { inCurrentVersion } from './plan-parts.ts';

const object = (apiVersion: string, kind: string): KubeObject => ({ apiVersion, kind, metadata: { name: 'a' } });

test.each([
  ['source.toolkit.fluxcd.io/v1beta2', 'GitRepository', 'source.toolkit.fluxcd.io/v1'],
  ['source.toolkit.fluxcd.io/v1', 'GitRepository', 'source.toolkit.fluxcd.io/v1'],
  ['image.toolkit.fluxcd.io/v1beta2', 'ImagePolicy', 'image.toolkit.fluxcd.io/v1beta2'],
  ['other.example/v1beta2', 'GitRepository', 'other.example/v1beta2'],
  ['v1', 'Secret', 'v1'],
])('an object in %s of %s is in %s', async (apiVersion, kind, expected) => {
  const before = object(apiVersion, kind);
  expect(inCurrentVersion(await standInRelease(), before)).toEqual({ ...before, apiVersion: expected });
});
