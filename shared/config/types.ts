import type * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { Addon } from './addons.ts';
import type { FluxConfigMap } from './flux-config-map.ts';
import type { deletionPolicies, fluxSchema, installDefaults, syncModes } from './flux-options.ts';
import type { Origins, Place } from './origins.ts';
import type { Policy } from './policy/policy.ts';
import type { ProjectSecretName } from './project-config.ts';
import type { LandscapeRollout } from './rollout.ts';
import type { ShootResource, ShootResources } from './shoot-resources.ts';
import type { JsonObject } from './values.ts';

export type SyncMode = (typeof syncModes)[number];

export type DeletionPolicy = (typeof deletionPolicies)[number];

/** The options of the installation that a layer may set. */
export type FluxOptions = z.infer<typeof fluxSchema>;

/** How Flux itself is installed: the options, with the defaults filled in. */
export type FluxInstall = Omit<FluxOptions, 'componentsExtra' | keyof typeof installDefaults> &
  typeof installDefaults & {
    /** Name of the landscape's pull secret in the flux namespace, also put on every Deployment. */
    landscapePullSecret?: string | undefined;
  };

/** An entry of `flux.patches`, as in a kustomization.yaml. */
export type Patch = NonNullable<FluxOptions['patches']>[number];

/** Which objects a patch changes; regular expressions, except for the selectors. */
export type PatchTarget = NonNullable<Patch['target']>;

/** Where the content of a Secret for the shoot comes from. */
export type SecretOrigin =
  /** The garden Secret `flux-source` of the project, which the function `keys` creates or checks. */
  | { type: 'flux-source' }
  /** Another Secret of the project in the garden, under its fixed name. */
  | { type: 'project'; name: ProjectSecretName }
  /** The entry of the Shoot's `spec.resources` with this name (not the Secret's own name). */
  | { type: 'resource'; resourceName: string }
  /** The pull secret of the landscape, in the garden or in the Shoot's seed. */
  | { type: 'landscape'; secret: PullSecret };

/**
 * A Secret that is copied into the shoot, with its type. An entry of the Shoot's `spec.resources` may also be a ConfigMap,
 * which is copied as one, or a WorkloadIdentity, for which Gardener writes a Secret with a token.
 */
export interface CopiedSecret {
  origin: SecretOrigin;
  /** Absent for an additional Secret without targetName: the name is then the entry's `resourceRef.name`. */
  targetName?: string | undefined;
  /** The namespace of the object that uses it. */
  namespace: string;
}

/** A partial Flux object; `spec` is passed on unchanged. */
export interface Template {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: Partial<KubeObject['metadata']> | undefined;
  spec: JsonObject;
}

/** A part of a FluxConfig that was read: its value if it is valid. */
export interface Read<T> {
  value?: T | undefined;
  issues: ConfigIssue[];
  warnings?: ConfigIssue[] | undefined;
}

/** An object that a layer describes. */
export interface PlacedTemplate {
  template: Template;
  /** Where the template is. */
  place: Place;
  /** The origin of the credentials of a source. */
  secret?: SecretOrigin | undefined;
}

/** The entries of a list of which the first one is the root of its kind; one that is invalid is undefined. */
export type Rooted = readonly (PlacedTemplate | undefined)[];

/** An entry of `additionalSecretResources`. */
export interface AdditionalSecret {
  name: string;
  targetName?: string | undefined;
  /** Where the entry is, for errors. */
  place: Place;
}

/** An addon that a layer lists. */
export interface ListedAddon {
  name: string;
  /** What the chart of the addon gets above the values of the catalogue. */
  values?: JsonObject | undefined;
  place: Place;
}

/** What a layer says, or all layers together, without defaults. Whatever its form, each layer is read into this one. */
export interface FluxConfig {
  flux: FluxOptions;
  syncMode?: SyncMode | undefined;
  deletionPolicy?: DeletionPolicy | undefined;
  suspend?: boolean | undefined;
  adopt?: boolean | undefined;
  monitoring?: boolean | undefined;
  sources?: Rooted | undefined;
  kustomizations?: Rooted | undefined;
  /** Changes of a lower layer's Kustomization. */
  kustomizationPatch?: JsonObject | undefined;
  objects?: PlacedTemplate[] | undefined;
  addons?: ListedAddon[] | undefined;
  /** `name` or `namespace/name`. */
  existingSecrets?: string[] | undefined;
  existingConfigMaps?: string[] | undefined;
  /** Absent where the list is empty. */
  additionalSecrets?: AdditionalSecret[] | undefined;
}

/** A layer after parsing. A part with an issue may be missing from `content`, so check `issues` first. */
export interface Layer {
  /** The name of the object in errors, for example `providerConfig`. */
  object: string;
  /** Where it is in the object: empty, or for example `overrides.yaml[2].config`. A layer is thus a place. */
  path: string;
  /** False: it exceeds a limit, so its content is unknown, and no rule for several layers applies. */
  isRead: boolean;
  content: FluxConfig;
  /** Which parts the layer sets, valid or not; a patch sets nothing. */
  sets: { source: boolean; kustomization: boolean };
  /** `knownHosts` of `flux-config`, which the function `keys` follows. */
  knownHosts?: string | undefined;
  /** Where the layer sets each field, by the path of the field in the effective configuration. */
  origins: Origins;
  issues: ConfigIssue[];
  /** What is accepted and not followed. */
  warnings?: ConfigIssue[] | undefined;
}

/** Returns the layer of an object that does not exist, or that exceeds limits. */
export function emptyLayer({ object, path }: Place, issues: ConfigIssue[] = []): Layer {
  const sets = { source: false, kustomization: false };
  return { object, path, isRead: issues.length === 0, content: { flux: {} }, sets, origins: {}, issues };
}

/**
 * The merged configuration of a Shoot: defaults < the landscape's defaults < ConfigMap `flux-config` < providerConfig,
 * validated, with every default filled in. Plain data; identified by `configHash`. The apiVersions of `source` and
 * `kustomization` are those of the template, or empty: the CRDs of the release decide which ones are used
 * (shared/flux).
 */
export interface EffectiveConfig {
  flux: FluxInstall;
  syncMode: SyncMode;
  /** Absent: the sync mode decides. */
  deletionPolicy?: DeletionPolicy | undefined;
  /** True: the source and the Kustomization are suspended. Default false. */
  suspend: boolean;
  /** True: a Flux is taken over that others have installed in the shoot; absent: it is left alone. */
  adopt?: boolean | undefined;
  /** True: Flux's metrics are in the Prometheus of the Shoot; absent: they are not. */
  monitoring?: boolean | undefined;
  /** GitRepository, OCIRepository or Bucket, complete except for `apiVersion` and `suspend`. */
  source?: KubeObject | undefined;
  /** The root Kustomization, complete except for `apiVersion` and `suspend`. */
  kustomization?: KubeObject | undefined;
  /**
   * The other objects for Flux, complete except for `apiVersion` and `suspend`, in the order in which they are applied: further
   * sources, further Kustomizations, other kinds.
   */
  objects: KubeObject[];
  /** The source's credentials. */
  sourceSecret?: CopiedSecret | undefined;
  additionalSecrets: CopiedSecret[];
  /** The pull secret of the landscape. */
  pullSecret?: CopiedSecret | undefined;
  /** True: the project has a ConfigMap `flux-config`, even an empty one. */
  hasFluxConfig: boolean;
  /** Where the user sets each field; later errors name that object and path. */
  origins: Origins;
  /** What is worth knowing although nothing is wrong, such as fields that are left out; absent: nothing. */
  warnings?: ConfigIssue[] | undefined;
}

/** The Secret with which the nodes of every Shoot pull the images of Flux. */
export interface PullSecret {
  in: 'garden' | 'seed';
  namespace: string;
  name: string;
}

/** A FluxConfig as operators write it, and the key `pullSecret`. */
export type Defaults = JsonObject;

/** What the operators of a landscape say for all of its projects, as the configuration file has it. */
export interface Landscape {
  /** The lowest layer above the built-in defaults. */
  defaults?: Defaults | undefined;
  policy?: Policy | undefined;
  /** How a change of these, a Flux release or another version of shoot-flux reaches the Shoots; absent: all at once. */
  rollout?: LandscapeRollout | undefined;
  /** What projects may list under `addons`, by name; null: unknown, as where there is no landscape. */
  addons?: Readonly<Record<string, Addon>> | null | undefined;
}

/** A Secret of the project that exists. */
export interface ProjectSecret {
  name: ProjectSecretName;
  /** Its namespace in the garden; empty where a file has none. */
  namespace: string;
  /** Why it cannot be used. */
  problem?: string | undefined;
  /** Of `flux-registry`: the registries for which it has credentials. */
  hosts?: readonly string[] | undefined;
  /** True: `flux-registry` has the certificate of their authority. */
  hasCertificate?: boolean | undefined;
}

/** What the configuration of a Shoot may depend on. */
export interface ShootTraits {
  labels: Readonly<Record<string, string>>;
  /** The facts of `shoot-facts`; absent: not known yet, so variables stay as they are. */
  facts?: Readonly<Record<string, string>> | undefined;
}

/** The sources of the layers; each may be absent. */
export interface ConfigInputs {
  /** What the operators say for every project; absent: unknown, so addons bring nothing. */
  landscape?: Landscape | undefined;
  /** The ConfigMap `flux-config`; absent: no such ConfigMap (a 404, never another failure). */
  fluxConfig?: FluxConfigMap | undefined;
  /** What differs between the Shoots of a project; absent: unknown, so no override applies. */
  shoot?: ShootTraits | undefined;
  /** The Extension's `spec.providerConfig`, unchecked. */
  providerConfig?: unknown;
  /** The Shoot's `spec.resources`; absent: unknown, so references to it are not checked. */
  shootResources?: ShootResource[] | undefined;
  /** The Secrets of the project that exist; absent: unknown, and none is used. */
  projectSecrets?: ProjectSecret[] | undefined;
}

/** What the layers say together, and which of them decides. */
export interface Merged {
  /** Highest first. */
  layers: readonly Layer[];
  content: FluxConfig;
  /** The layers that decide the source and the Kustomization. */
  sourceFrom: Layer;
  kustomizationFrom: Layer;
  origins: Origins;
  issues: ConfigIssue[];
}

/** A Secret that is copied for a source, and where the template of the source is. */
export interface PlacedSecret {
  secret: CopiedSecret;
  place: Place;
}

/** The configuration with every default filled in, as far as the layers are valid. */
export interface Complete extends Merged {
  flux: FluxInstall;
  source: KubeObject | undefined;
  kustomization: KubeObject | undefined;
  /** The objects besides the root pair, in the order in which they are applied; `origins` has the place of each. */
  objects: KubeObject[];
  /** The credentials of the source. */
  sourceSecret: PlacedSecret | undefined;
  /** What is worth knowing about addons. */
  addonWarnings: ConfigIssue[];
  /** The credentials of the other sources. */
  listedSecrets: PlacedSecret[];
  pullSecret: CopiedSecret | undefined;
  shootResources: ShootResources;
}
