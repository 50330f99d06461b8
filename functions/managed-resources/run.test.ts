import { expect, it } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { isWokenByApplying } from './run.ts';

const object = (kind: string): Cause => ({
  ...{ type: 'object', cluster: 'seed', kind, namespace: 'shoot--foo--bar' },
  ...{ name: 'any', uid: 'any', resourceVersion: '1' },
});
const applied = object('ManagedResource');
const recheck: Cause = { type: 'notBefore', notBefore: '2026-01-02T03:04:05Z' };

it.each<[string, Cause[], boolean, boolean]>([
  ['a ManagedResource', [applied], false, true],
  ['several, beside its own recheck', [recheck, applied, applied], false, true],
  ['a ManagedResource, while gardenlet asks', [applied], true, false],
  ['its own recheck, which may find anything', [recheck], false, false],
  ['the retry of a run', [applied, { ...recheck, attempt: 1 }], false, false],
  ['an edit, or a Secret of the project', [applied, object('ConfigMap')], false, false],
  ['the Extension', [object('Extension')], false, false],
  ['the resync', [applied, { type: 'resync', epoch: 1 }], false, false],
  ['nothing known', [], false, false],
])('knows a run that follows the resource-manager: %s', (_what, causes, isAsked, expected) => {
  expect(isWokenByApplying({ context: { causes }, isAsked })).toBe(expected);
});
