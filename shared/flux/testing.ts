import type { EffectiveConfig, FluxInstall } from '../config/effective.ts';
import { installDefaults } from '../config/flux-options.ts';
import type { KubeObject } from '../kube/resource.ts';
import { distributionAt } from './distribution.ts';
import type { Release, RenderInputs, ShootFacts } from './release.ts';

/** The folder of the small stand-in distribution, and its one release. */
export const standIn = { folder: 'test/landscape/distribution', version: 'v2.9.99' };

/** The stand-in release; test data, like everything here. */
export function standInRelease(): Promise<Release> {
  return distributionAt(standIn.folder).release(standIn.version);
}

/** The options of `flux install` with their defaults. */
export function fluxInstall(changes: Partial<FluxInstall> = {}): FluxInstall {
  return { ...installDefaults, ...changes };
}

/** A config that installs Flux and nothing else. */
export function fluxOnly(changes: Partial<EffectiveConfig> = {}): EffectiveConfig {
  return {
    flux: fluxInstall(),
    syncMode: 'Once',
    suspend: false,
    additionalSecrets: [],
    hasFluxConfig: false,
    origins: {
      source: { object: 'providerConfig', path: 'source.template' },
      kustomization: { object: 'providerConfig', path: 'kustomization.template' },
    },
    ...changes,
  };
}

/** An object with nothing but a name and what is given. */
export function object(kind: string, name: string, rest: Partial<KubeObject> = {}): KubeObject {
  return { apiVersion: '', kind, ...rest, metadata: { name, ...rest.metadata } };
}

const noFacts: ShootFacts = {
  info: {
    SHOOT_INFO_NAME: 'bar',
    SHOOT_INFO_TECHNICAL_ID: 'shoot--foo--bar',
    SHOOT_INFO_CLUSTER_IDENTITY: '',
    SHOOT_INFO_GARDEN_CLUSTER_IDENTITY: '',
  },
  facts: {},
};

/** What a Shoot's objects are made from: the stand-in release, Flux only. */
export async function renderInputs(changes: Partial<RenderInputs> = {}): Promise<RenderInputs> {
  const base = {
    config: fluxOnly(),
    shoot: noFacts,
    secrets: [],
    configMaps: [],
    ownsNamespace: true,
    shootHealth: false,
  };
  return { ...base, release: await standInRelease(), ...changes };
}
