import { expect, test } from 'vitest';
import { listedCopies, type ResourceReference, stillCopied } from './references.ts';

const entry = (name: string, kind: string, apiVersion = 'v1'): ResourceReference => ({
  name,
  resourceRef: { apiVersion, kind, name: `my-${name}` },
});
const listed = (name: string, kind: string): ResourceReference => ({
  name,
  resourceRef: { apiVersion: 'v1', kind, name: `ref-my-${name}` },
});

test('trap 32: names a copy after its object, and does not list tokens of WorkloadIdentities', () => {
  const entries = [
    entry('creds', 'Secret'),
    entry('vars', 'ConfigMap'),
    entry('cloud', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1'),
  ];
  expect(listedCopies(entries)).toEqual([listed('creds', 'Secret'), listed('vars', 'ConfigMap')]);
});

test('drops copies that the Shoot no longer names', () => {
  const both = [listed('creds', 'Secret'), listed('vars', 'ConfigMap')];
  expect(stillCopied(both, [entry('vars', 'ConfigMap')])).toEqual([listed('vars', 'ConfigMap')]);
  expect(stillCopied(both, [entry('creds', 'ConfigMap')])).toEqual([]);
  expect(stillCopied(both, [])).toEqual([]);
});
