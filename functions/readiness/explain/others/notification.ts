import type { Failure } from '../remedies.ts';

/** Receivers. Alerts and Providers have no status: their controller reports failures of deliveries in its log only. */
export const notificationFailures: Failure[] = [
  {
    reason: 'CredentialsIncomplete',
    matches: /invalid ['"][^'"]+['"] secret data: required fields? '([^']+)'/,
    what: 'its Secret has no key $1',
    remedy: 'add the key to {secret}',
  },
  {
    reason: 'ExpressionInvalid',
    matches: /invalid (resourceFilter|filter) expression/,
    what: 'a CEL expression is invalid',
    remedy: ([, field], { places }) =>
      `correct ${field === 'filter' ? 'filter in resources' : 'resourceFilter'} in ${places.template}`,
  },
  {
    reason: 'CredentialsMissing',
    matches: /unable to read (?:token from )?secret/,
    what: 'Flux cannot read its Secret',
    remedy: 'create {secret}, or correct {places.secretRef}',
  },
];
