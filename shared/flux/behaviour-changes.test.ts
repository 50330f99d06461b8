import { expect, test } from 'vitest';
import { allBehaviourChanges, behaviourChanges, behaviourText } from './behaviour-changes.ts';
import { compareVersions } from './versions.ts';

const all = [
  ...['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller'],
  ...['image-reflector-controller', 'image-automation-controller'],
];
const releases = (from: string, to: string, components = all) => [
  ...new Set(behaviourChanges(from, to, components).map(({ release }) => release)),
];

test.each([
  ['v2.6.4', 'v2.9.4', ['v2.7.0', 'v2.8.0', 'v2.9.0']],
  ['v2.7.5', 'v2.8.8', ['v2.8.0']],
  ['v2.8.8', 'v2.9.4', ['v2.9.0']],
  ['v2.3.0', 'v2.6.4', []],
  ['v2.9.0', 'v2.9.4', []],
  ['v2.9.4', 'v2.8.8', []],
  ['v2.9.4', 'v2.9.4', []],
])('an upgrade from %s to %s names the changes of %j', (from, to, expected) => {
  expect(releases(from, to)).toEqual(expected);
});

test('only what the installed components do counts', () => {
  expect(behaviourChanges('v2.8.8', 'v2.9.4', ['helm-controller']).map(behaviourText)).toEqual([
    'From Flux v2.9.0 on the postRenderers of a HelmRelease also change the hooks of its chart; set spec.postRenderStrategy to nohooks to keep the hooks as they are.',
  ]);
  expect(behaviourChanges('v2.8.8', 'v2.9.4', [])).toEqual([]);
});

test('a fault of one release is named only before this release', () => {
  const texts = (to: string) => behaviourChanges('v2.8.8', to, all).map(behaviourText).join('\n');
  expect(texts('v2.9.0')).toContain('install v2.9.1 or newer');
  expect(texts('v2.9.1')).not.toContain('install v2.9.1 or newer');
});

test('the changes are in order, and short enough for Events', () => {
  const ordered = allBehaviourChanges.toSorted((one, other) => compareVersions(one.release, other.release));
  expect(ordered).toEqual(allBehaviourChanges);
  for (const change of allBehaviourChanges) {
    expect(behaviourText(change).length).toBeLessThan(400);
    expect(all).toContain(change.component);
  }
});
