import { expect, test } from 'vitest';
import { operationOf } from './operation.ts';

test.each([
  [undefined, undefined],
  [{}, undefined],
  [{ 'gardener.cloud/operation': 'rotate-ssh-keypair-start' }, 'rotate-ssh-keypair-start'],
  [{ 'gardener.cloud/operation': 'rotate-ssh-keypair-complete' }, 'rotate-ssh-keypair-complete'],
])('reads %j as operation %s', (annotations, operation) => {
  expect(operationOf('garden-foo', annotations)).toEqual(
    operation === undefined ? { notices: [] } : { operation, notices: [] },
  );
});

test.each(['rotate-ssh-keypair', 'reconcile', ''])('reports %j as unknown and leaves it there', (value) => {
  const { operation, notices } = operationOf('garden-foo', { 'gardener.cloud/operation': value });
  expect(operation).toBeUndefined();
  expect(notices).toEqual([
    {
      type: 'Warning',
      reason: 'UnknownOperation',
      message: `ConfigMap garden-foo/flux-config: annotation gardener.cloud/operation has the unknown value ${JSON.stringify(value)}; use rotate-ssh-keypair-start or rotate-ssh-keypair-complete.`,
    },
  ]);
});
