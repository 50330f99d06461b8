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

test('trap 32: a copy is named after the object; tokens of WorkloadIdentities are not listed', () => {
  const entries = [
    entry('creds', 'Secret'),
    entry('vars', 'ConfigMap'),
    entry('cloud', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1'),
  ];
  expect(listedCopies(entries)).toEqual([listed('creds', 'Secret'), listed('vars', 'ConfigMap')]);
});

test('what the Shoot no longer names is no longer listed', () => {
  const both = [listed('creds', 'Secret'), listed('vars', 'ConfigMap')];
  expect(stillCopied(both, [entry('vars', 'ConfigMap')])).toEqual([listed('vars', 'ConfigMap')]);
  expect(stillCopied(both, [entry('creds', 'ConfigMap')])).toEqual([]);
  expect(stillCopied(both, [])).toEqual([]);
});
