import type { Examples } from '../examples.testing.ts';
import { listed, receiver } from '../examples.testing.ts';

export const notificationExamples: Examples[] = [
  [
    receiver,
    listed,
    {
      "invalid 'flux-system/webhook' secret data: required fields 'token'":
        'CredentialsIncomplete: Receiver flux-system/app: its Secret has no key token; add the key to the original of Secret flux-system/webhook',
      'unable to read token from secret \'flux-system/webhook\' error: Secret "webhook" not found':
        'CredentialsMissing: create the original of Secret flux-system/webhook, or correct objects[1].spec.secretRef of the providerConfig',
      "Reconciliation failed terminally due to configuration error: invalid resourceFilter expression: failed to parse the CEL expression 'res.(': ERROR: <input>:1:5: Syntax error":
        'ExpressionInvalid: correct resourceFilter in objects[1].spec of the providerConfig',
    },
  ],
];
