import type { Failure } from '../remedies.ts';

/** Receivers. Alerts and Providers have no status: their controller reports failures of deliveries in its log only. */
export const notificationFailures: Failure[] = [
  {
    reason: 'CredentialsIncomplete',
    matches: /invalid ['"][^'"]+['"] secret data: required fields? '([^']+)'/,
    says: ([, key], { secret }) => [`its Secret has no key ${key}`, `add the key to ${secret}`],
  },
  {
    reason: 'ExpressionInvalid',
    matches: /invalid (resourceFilter|filter) expression/,
    says: ([, field], { places }) => [
      'a CEL expression is invalid',
      `correct ${field === 'filter' ? 'filter in resources' : 'resourceFilter'} in ${places.template}`,
    ],
  },
  {
    reason: 'CredentialsMissing',
    matches: /unable to read (?:token from )?secret/,
    says: (_, { secret, places }) => [
      'Flux cannot read its Secret',
      `create ${secret}, or correct ${places.secretRef}`,
    ],
  },
];
