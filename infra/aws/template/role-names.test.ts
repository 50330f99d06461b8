import { expect, it } from 'vitest';
import { checkRoleNames } from '../serverless.ts';

it('refuses a prefix with which the name of a role would be longer than IAM takes', () => {
  const functions = ['keys', 'resource-manager-webhook'];
  expect(() => checkRoleNames('shoot-flux-prod-eu-central-1-', functions)).not.toThrow();
  expect(() => checkRoleNames('shoot-flux-landscape-a-prod-eu-central-1-', functions)).toThrow(
    'The role shoot-flux-landscape-a-prod-eu-central-1-resource-manager-webhook would have 65 characters, and IAM takes 64; choose a shorter --param prefix or --stage.',
  );
});
