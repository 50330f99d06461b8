import { expect, it } from 'vitest';
import { settingsOf } from './settings.ts';

it.each([
  [['shoot--garden-foo--bar'], undefined],
  [['shoot--garden-foo--bar', 'my-seed'], { maxInProgress: 1 }],
])('with clusters %j, the rollout of the landscape is %j', (seeds, rollout) => {
  const values = { 'flux-distribution': '/flux', rollout: { maxInProgress: 1 } };
  expect(settingsOf(values, seeds, {}).rollout).toEqual(rollout);
});
