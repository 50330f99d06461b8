import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { Origins, Place } from './origins.ts';
import type { DeletionPolicy, FluxOptions, SecretOrigin, SyncMode } from './types.ts';
import type { JsonObject } from './values.ts';

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
