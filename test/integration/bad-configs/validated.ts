import { expect } from 'vitest';
import { files, shootFlux } from '../../../infra/cli/testing.ts';
import { PROJECT } from '../../scenarios/stage.ts';
import { type BadConfig, HIDDEN, shootOf } from './case.ts';

/** Returns what `validate` prints about a configuration. */
export async function validated(config: BadConfig, distribution: string): Promise<unknown> {
  const { fluxConfig: data } = config;
  const metadata = { namespace: PROJECT, name: 'flux-config' };
  await using input = await files({
    shoot: shootOf(config),
    fluxConfig: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
  });
  const options = ['--flux-distribution', distribution, '--shoot', input.paths.shoot];
  const project = data === undefined ? [] : ['--flux-config', input.paths.fluxConfig];
  return await shootFlux(['validate', ...options, ...project]);
}

/** One sentence that names the object and has a remedy, and no secrets. */
export function expectOneSentence(sentence: string): void {
  expect(sentence).toMatch(/^(ConfigMap garden-foo\/flux-config|Secret garden-foo\/flux-\w+|providerConfig)\b/);
  // A remedy follows the problem, or is the question whether another word was meant.
  expect(sentence).toMatch(/[;,] \w|must be /);
  expect(sentence).not.toMatch(/\n|\. [A-Z]|undefined|\[object|; providerConfig|; ConfigMap|\bat .*:\d+:\d+/);
  expect(sentence).not.toContain(HIDDEN);
  expect(sentence.length).toBeLessThan(500);
}
