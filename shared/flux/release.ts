import type { Policy } from '../config/policy/policy.ts';
import type { EffectiveConfig } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';

/** A distribution folder: `<dir>/<version>/<file>.yaml` as in a Flux release's manifests.tar.gz. */
export interface Distribution {
  /** All versions that have a folder, newest first. */
  versions(): Promise<string[]>;
  /** Parsed and cached. @throws ConfigError with the available versions when there is no such folder */
  release(version: string): Promise<Release>;
}

/** Component -> `sha256:…` of its image. */
export type ImageDigests = Readonly<Record<string, string>>;

/** One Flux release. */
export interface Release {
  /** For example `v2.9.4`. */
  version: string;
  /** sha256 hex over the release's files, and over the digests of its images if they are pinned. */
  digest: string;
  /** Absent: images are named by their tags alone. */
  imageDigests?: ImageDigests;
  /** File name without `.yaml` -> its objects in file order. Do not modify them. */
  files: ReadonlyMap<string, readonly KubeObject[]>;
}

/** The objects of the four ManagedResources, each group in a stable order. Do not modify them. */
export interface ObjectGroups {
  crds: KubeObject[];
  controllers: KubeObject[];
  secrets: KubeObject[];
  sync: KubeObject[];
}

/** Facts of the Shoot for the ConfigMaps `shoot-info` and `shoot-facts`. */
export interface ShootFacts {
  /** `SHOOT_INFO_…` keys; unknown facts are empty. */
  info: Record<string, string>;
  /** `SHOOT_…` keys; unknown facts are missing. */
  facts: Record<string, string>;
}

/** The content of one Secret that is copied into the shoot. */
export interface SecretContent {
  name: string;
  namespace: string;
  type: string;
  /** Labels of the original that the copy gets. */
  labels?: Record<string, string> | undefined;
  /** base64 values, as in a Secret's `data`. */
  data: Record<string, string>;
}

/** The content of one ConfigMap that is copied into the shoot. */
export interface ConfigMapContent {
  name: string;
  namespace: string;
  data?: Record<string, string> | undefined;
  /** base64 values. */
  binaryData?: Record<string, string> | undefined;
}

/** Everything that the objects of a Shoot depend on. */
export interface RenderInputs {
  config: EffectiveConfig;
  release: Release;
  shoot: ShootFacts;
  secrets: SecretContent[];
  configMaps: ConfigMapContent[];
  /** False: the flux namespace existed before and is in no ManagedResource. */
  ownsNamespace: boolean;
  /** The landscape's policy, which judges what patches make of the installation. */
  policy?: Policy | undefined;
  /** True: the objects count for the Shoot's health, because the operator has opted in. */
  shootHealth: boolean;
}
