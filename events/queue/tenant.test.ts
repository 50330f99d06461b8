import { expect, it } from 'vitest';
import { tenantOf } from './tenant.ts';

it.each([
  ['a control plane', 'shoot--foo--bar', 'foo'],
  ['a Shoot whose name has two hyphens', 'shoot--foo--bar--baz', 'foo'],
  ["a project's namespace", 'garden-foo', 'foo'],
  ['a namespace that the project chose', 'my-team', 'my-team'],
  ['the namespace of the garden itself', 'garden', 'garden'],
  ['a name that is cut short', 'shoot--foo', 'shoot--foo'],
])('the project of %s', (_, namespace, project) => {
  expect(tenantOf({ cluster: 'seed', namespace, name: 'x' })).toEqual({ cluster: 'seed', project });
});
