import type { ConfigIssue } from '../errors.ts';
import type { DeletionPolicy, FluxInstall, SecretOrigin, SyncMode } from './effective.ts';
import type { Origins } from './origins.ts';

/** A partial object of Flux; `spec` is passed on as it is. */
export interface Template {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata?: TemplateMeta | undefined;
  spec: Record<string, unknown>;
}

export interface TemplateMeta {
  name?: string | undefined;
  namespace?: string | undefined;
  labels?: Record<string, string> | undefined;
  annotations?: Record<string, string> | undefined;
}

/** A source and where its credentials come from. */
export interface SourceLayer {
  template: Template;
  secret?: SecretOrigin | undefined;
}

/** An entry of `additionalSecretResources`. */
export interface AdditionalSecret {
  name: string;
  targetName?: string | undefined;
}

/** The options of the installation that a layer may set; the extra components are still apart. */
export type FluxOptions = { [K in keyof FluxInstall]?: FluxInstall[K] | undefined } & {
  componentsExtra?: string[] | undefined;
};

/** What one layer says, without any default. */
export interface Layer {
  flux: FluxOptions;
  syncMode?: SyncMode | undefined;
  deletionPolicy?: DeletionPolicy | undefined;
  suspend?: boolean | undefined;
  source?: SourceLayer | undefined;
  kustomization?: Template | undefined;
  additionalSecrets: AdditionalSecret[];
}

/** A layer as it was read. A part with an issue may be missing from `layer`, so `issues` decides. */
export interface ReadLayer {
  /** How errors call the object, for example `providerConfig`. */
  object: string;
  layer: Layer;
  /** Which parts the layer names, whether they are good or not. */
  sets: { source: boolean; kustomization: boolean };
  /** Which entry of the Shoot's `spec.resources` the source refers to, whether the source is good or not. */
  secretResourceName?: string | undefined;
  /** Where the layer sets each field, by the path of the field in the effective configuration. */
  origins: Origins;
  issues: ConfigIssue[];
}

/** What a layer says that is not there. */
export const emptyLayer: Layer = { flux: {}, additionalSecrets: [] };
