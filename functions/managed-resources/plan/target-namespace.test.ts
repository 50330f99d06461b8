import { expect, test } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { Applied } from '../../../shared/gardener/types.ts';
import { judgeTargetNamespace, keepsByRecord, type NamespaceFacts } from './target-namespace.ts';

const place = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', namespace: 'flux-system' };
const main = { ...place, name: 'main-ks' };
const sync = { 'shoot-flux-sync': 'sync-1' };
/** A record of a Shoot that follows flux-config. */
const record = (parts: Partial<Applied> = {}) =>
  appliedFactory({ fromFluxConfig: true, kustomization: main, managedResources: sync, ...parts });
const former = record();
const kept = record({ targetNamespace: 'default', keepsNamespace: true });
const without = record({ targetNamespace: '' });
const released = { managedResources: {} };
const inDefault = { targetNamespace: 'default' };
const nowhere = {};

test.each<[string, Partial<NamespaceFacts>, string]>([
  // A new Shoot.
  ['being created: looks at the seed', { isNew: true }, 'read held'],
  ['being created', { isNew: true, held: 'absent' }, 'none'],
  ['created hibernated, first run later', { held: 'absent', inShoot: 'absent' }, 'none'],
  // One that runs.
  ['kept before', { previous: kept }, 'keep'],
  ['written before, and now removed', { previous: record({ targetNamespace: 'default' }) }, 'keep'],
  ['another namespace written before', { previous: record({ targetNamespace: 'apps' }) }, 'none'],
  ['none before', { previous: without }, 'none'],
  ['moved or restored: the record has moved, too', { previous: kept, held: 'absent' }, 'keep'],
  ['ManagedResource deleted by hand', { previous: kept, held: 'absent', inShoot: 'absent' }, 'keep'],
  // With the record of a former version.
  ['former version', { previous: former }, 'read held'],
  ['former version with default', { previous: former, held: inDefault }, 'keep'],
  ['former version with patch null', { previous: former, held: nowhere }, 'none'],
  ['former version, moved to another seed', { previous: former, held: 'absent' }, 'read shoot'],
  ['the same', { previous: former, held: 'absent', inShoot: inDefault }, 'keep'],
  ['the same, without an answer', { previous: former, held: 'absent', inShoot: 'no answer' }, 'keep'],
  ['the same, and its Kustomization is gone', { previous: former, held: 'absent', inShoot: 'absent' }, 'keep'],
  [
    'former version without a repository',
    { previous: record({ kustomization: undefined }), held: 'absent', inShoot: 'absent' },
    'none',
  ],
  // Without a record: lost, removed with Orphan and added again, taken over, or of the Go extension.
  ['no record', {}, 'read held'],
  ['no record, and the ManagedResource has default', { held: inDefault }, 'keep'],
  ['no record, and the ManagedResource has none', { held: nowhere }, 'none'],
  ['no record, no ManagedResource', { held: 'absent' }, 'read shoot'],
  ['no record, and the shoot has default', { held: 'absent', inShoot: inDefault }, 'keep'],
  ['no record, and the shoot has apps', { held: 'absent', inShoot: { targetNamespace: 'apps' } }, 'none'],
  ['no record, and the shoot has none', { held: 'absent', inShoot: nowhere }, 'none'],
  ['no record, no answer', { held: 'absent', inShoot: 'no answer' }, 'wait'],
  // Released by Once: users may have changed it since.
  ['released', { previous: record({ ...released, targetNamespace: 'default' }) }, 'read held'],
  ['released, no ManagedResource', { previous: { ...kept, ...released }, held: 'absent' }, 'read shoot'],
  ['released, and changed', { previous: { ...kept, ...released }, held: 'absent', inShoot: nowhere }, 'none'],
  [
    'released without, and changed',
    { previous: { ...without, ...released }, held: 'absent', inShoot: inDefault },
    'keep',
  ],
  ['released, no answer', { previous: { ...kept, ...released }, held: 'absent', inShoot: 'no answer' }, 'keep'],
  [
    'released without, no answer',
    { previous: { ...without, ...released }, held: 'absent', inShoot: 'no answer' },
    'none',
  ],
  [
    'repository removed and added again',
    { previous: { ...kept, ...released, kustomization: undefined }, held: 'absent', inShoot: 'absent' },
    'keep',
  ],
])('%s: %o -> %s', (_, facts, verdict) => {
  expect(judgeTargetNamespace({ previous: undefined, isNew: false, ...facts })).toBe(verdict);
});

test.each<[string, Applied, boolean]>([
  ['kept', kept, true],
  ['none', without, false],
  ['former version', former, true],
  ['former version, from a list', record({ kustomization: { ...main, place: { object: 'x', path: 'y' } } }), false],
  ['former version, from a providerConfig', record({ fromFluxConfig: false }), false],
  ['former version, another Kustomization', record({ kustomization: { ...main, name: 'flux-system' } }), false],
])('the record alone says whether default is kept: %s', (_, previous, keeps) => {
  expect(keepsByRecord(previous)).toBe(keeps);
});
