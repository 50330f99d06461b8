import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { installDefaults } from '../config/flux-options.ts';
import type { EffectiveConfig, FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';
import { distributionAt } from './distribution.ts';
import type { Release, RenderInputs, ShootFacts } from './release.ts';

/** The folder of the small stand-in distribution, and its only release. */
export const standIn = standInDistribution;

/** Returns the stand-in release. */
export function standInRelease(): Promise<Release> {
  return distributionAt(standIn.folder).release(standIn.version);
}

/** Returns the default options of `flux install` with changes. */
export function fluxInstall(changes: Partial<FluxInstall> = {}): FluxInstall {
  return { ...installDefaults, ...changes };
}

/** Returns a config that installs only Flux, with changes. */
export function fluxOnly(changes: Partial<EffectiveConfig> = {}): EffectiveConfig {
  return {
    flux: fluxInstall(),
    syncMode: 'Once',
    suspend: false,
    objects: [],
    additionalSecrets: [],
    hasFluxConfig: false,
    origins: {
      source: { object: 'providerConfig', path: 'source.template' },
      kustomization: { object: 'providerConfig', path: 'kustomization.template' },
    },
    ...changes,
  };
}

/** Returns an object with a name and the given fields. */
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

/** Returns the inputs for a Shoot with only Flux, of the stand-in release, with changes. */
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
