import { expect } from 'vitest';
import { files, shootFlux } from '../../../infra/cli/testing.ts';
import { PROVIDER_CONFIG_API } from '../../../shared/config/provider-config-schema.ts';
import { PROJECT } from '../../scenarios/stage.ts';

/** A wrong configuration, and the only sentence about it. */
export interface BadConfig {
  what: string;
  /** `data` of the ConfigMap `flux-config`. */
  fluxConfig?: Record<string, string>;
  providerConfig?: unknown;
  labels?: Record<string, string>;
  /** The Shoot's `spec.resources`: name -> kind. The content of a Secret is in the control plane. */
  resources?: Record<string, 'Secret' | 'ConfigMap' | 'Pod'>;
  /** The contents of the Secrets in `resources`. */
  contents?: Record<string, Record<string, string>>;
  /** Secrets of the project: name -> content. */
  ofProject?: Record<string, Record<string, string>>;
  /** Without the full stop. */
  sentence: string;
  /** Where the sentence cannot be known: files have no Secrets, and admission reads no ConfigMap and no release. */
  unknownTo?: ('validate' | 'admission')[];
  /** An API server refuses it, so that no function sees it. */
  isRefusedByApi?: true;
}

/** Marks the content of Secrets, which no sentence shows. */
export const HIDDEN = 'hidden-content';

export const URL = 'https://git.example.com/fleet';
export const FLUX_CONFIG = 'ConfigMap garden-foo/flux-config: ';

/** A FluxConfig with these fields. */
export const fluxConfigOf = (fields: object) => ({ apiVersion: PROVIDER_CONFIG_API, kind: 'FluxConfig', ...fields });

export const source = (spec: object = {}, template: object = {}) => ({
  template: { kind: 'GitRepository', spec: { url: URL, ref: { branch: 'main' }, ...spec }, ...template },
});
export const kustomization = (spec: object = {}, template: object = {}) => ({
  template: { spec: { path: './clusters', ...spec }, ...template },
});

/** The case of a key of `flux-config` beside a valid repository. */
export function ofKeys(what: string, data: Record<string, string>, sentence: string): BadConfig {
  return {
    what,
    fluxConfig: { repositoryUrl: URL, repositoryBranch: 'main', ...data },
    sentence: `${FLUX_CONFIG}${sentence}`,
  };
}

/** The case of a providerConfig. */
export function ofShoot(what: string, fields: object, sentence: string, more: Partial<BadConfig> = {}): BadConfig {
  return { what, providerConfig: fluxConfigOf(fields), sentence: `providerConfig${sentence}`, ...more };
}

/** The resources of the Shoot. */
export const specOf = ({ resources: named = {} }: BadConfig) => ({
  resources: Object.entries(named).map(([name, kind]) => ({
    name,
    resourceRef: { apiVersion: 'v1', kind, name: `its-${name}` },
  })),
});
/** The Shoot of the case. */
export const shootOf = (config: BadConfig) => ({
  ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' },
  metadata: { namespace: PROJECT, name: 'bar', labels: config.labels },
  spec: {
    ...specOf(config),
    kubernetes: { version: '1.34.2' },
    extensions: [
      { type: 'shoot-flux', ...(config.providerConfig !== undefined && { providerConfig: config.providerConfig }) },
    ],
  },
});

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
  // The longest one lists the keys of `flux`.
  expect(sentence.length).toBeLessThan(600);
}
