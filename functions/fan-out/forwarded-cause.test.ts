import { expect, it } from 'vitest';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { forwardedCause, type Versions } from './handler.ts';

const key = { cluster: 'garden', namespace: 'garden-foo', name: 'flux-config' };
type Version = Versions['secrets'][number]['version'];
const secrets = (source?: Version, sops?: Version): Versions['secrets'] => [
  { name: 'flux-source', version: source },
  { name: 'flux-sops', version: sops },
];
const five = { uid: 's', resourceVersion: '5' };
const versions: Versions = {
  config: { uid: 'c', resourceVersion: '7' },
  secrets: secrets(five),
};
const edit = (resourceVersion: string, flags: object = {}): Cause => ({
  ...{ type: 'object', cluster: 'garden', kind: 'ConfigMap', namespace: 'garden-foo', name: 'flux-config' },
  ...{ uid: 'c', resourceVersion },
  ...flags,
});
const textOf = (found: Versions, causes: Cause[]) => JSON.stringify(forwardedCause(key, found, causes));

it('is equal for the same state, whatever woke the run', () => {
  // Also without the attempts of this function.
  const retried: Cause = { type: 'notBefore', notBefore: '2026-01-02T03:04:05.000Z', attempt: 9 };
  expect(textOf(versions, [edit('6')])).toBe(textOf(versions, [retried]));
  expect(textOf(versions, [edit('6'), edit('7')])).toBe(textOf(versions, [edit('6')]));
});

it('differs for another version of the ConfigMap, of each Secret, and for recreated ones', () => {
  const others: Versions[] = [
    versions,
    { ...versions, config: { uid: 'c', resourceVersion: '8' } },
    { ...versions, config: { uid: 'd', resourceVersion: '7' } },
    { ...versions, secrets: secrets({ uid: 's', resourceVersion: '6' }) },
    { ...versions, secrets: secrets({ uid: 't', resourceVersion: '5' }) },
    { ...versions, secrets: secrets(five, five) },
    { ...versions, config: undefined },
    { ...versions, secrets: secrets() },
    { ...versions, secrets: secrets(undefined, five) },
  ];
  expect(new Set(others.map((found) => textOf(found, [edit('6')])))).toHaveLength(others.length);
});

it('differs for a second deletion of the same object', () => {
  const gone: Versions = { ...versions, config: undefined };
  const deletion = (version: string) => edit(version, { deleted: true });
  expect(textOf(gone, [deletion('7')])).not.toBe(textOf(gone, [deletion('9')]));
  expect(textOf(gone, [deletion('7')])).toBe(textOf(gone, [deletion('7')]));
});

it('differs for a second deletion of the same Secret, and for no other cause', () => {
  const deletion = (name: string, resourceVersion: string): Cause => ({
    ...{ type: 'object', cluster: 'garden', kind: 'Secret', namespace: 'garden-foo', name, uid: 's' },
    ...{ resourceVersion, deleted: true },
  });
  const text = (cause: Cause) => textOf(versions, [cause]);
  expect(text(deletion('flux-sops', '7'))).not.toBe(text(deletion('flux-sops', '9')));
  expect(text(deletion('flux-source', '7'))).toBe(text(deletion('flux-source', '9')));
});

it('is found by a list when all of its causes are', () => {
  expect(forwardedCause(key, versions, [edit('7', { listed: true })])).toMatchObject({ listed: true });
  expect(forwardedCause(key, versions, [edit('7', { listed: true }), edit('8')])).not.toHaveProperty('listed');
});
