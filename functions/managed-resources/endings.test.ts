import { expect, test } from 'vitest';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import type { ConfigInputs } from '../../shared/config/types.ts';
import { ConfigError } from '../../shared/errors.ts';
import { showsOnlyInShoots } from './endings.ts';

const repository = { repositoryUrl: 'https://git.example/fleet', repositoryBranch: 'main' };
const ofProject = (data: Record<string, string>): ConfigInputs => ({
  fluxConfig: { namespace: 'garden-foo', data: { ...repository, ...data } },
});

function errorOf(inputs: ConfigInputs): ConfigError {
  try {
    effectiveConfig(inputs);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  throw new Error('the configuration is valid');
}

test.each<[string, ConfigInputs, boolean]>([
  ['a key that needs another one', ofProject({ tenantDefaultServiceAccount: 'team' }), true],
  ['a wrong key beside it', ofProject({ tenantDefaultServiceAccount: 'team', repositoryBrunch: 'main' }), false],
  ['an unknown key', ofProject({ repositoryBrunch: 'main' }), false],
  ['a wrong providerConfig', { ...ofProject({}), providerConfig: { fluxx: {} } }, false],
  ['a providerConfig alone', { providerConfig: { fluxx: {} } }, false],
  [
    'a refusal by the policy',
    { ...ofProject({}), landscape: { policy: { allowedRepositoryUrls: ['https://other.example/**'] } } },
    false,
  ],
])('%s: %s', (_, inputs, isUnseen) => {
  expect(showsOnlyInShoots(errorOf(inputs), inputs)).toBe(isUnseen);
});
