import * as z from 'zod/mini';
import { isRecord } from '../shapes.ts';

/**
 * The state that we keep on an Extension, in `status.state`: one row for each field, with when it appears and goes, and
 * what reads it. `managed-resources` writes all of them, except `bootstrapped`. A control-plane migration keeps them. The
 * state has no schema in the CRD, so a row also says which values count; a field with another one counts as absent.
 */

const text = z.string();
const texts = z.array(z.string());
const listsByName = z.record(z.string(), texts);
const optional = <T extends z.ZodMiniType>(type: T) => z.catch(z.optional(type), undefined);

/** An object of the configuration, and the path in it. */
const objectPlace = z.object({ object: text, path: text });

const shootObject = z.object({
  apiVersion: text,
  kind: text,
  namespace: text,
  name: text,
  /** Where the user has written it, if neither in keys of `flux-config` nor as `template` of a providerConfig. */
  place: optional(objectPlace),
  /** Where patches set fields of the root Kustomization, by their paths in the object. */
  patched: optional(z.record(text, objectPlace)),
});

const listedObject = z.extend(shootObject, { place: objectPlace });

/** Options of the installation that decide from where images are pulled, and where they are written. */
const imagePlaces = z.object({
  registry: optional(objectPlace),
  imagePullSecret: optional(objectPlace),
  patches: optional(objectPlace),
});

/** The record, `state.applied`: written before anything else, so it names all that may be in the shoot. */
const recordFields = {
  // What was planned last. Always there; each plan replaces it.

  /** Hash of the effective configuration and of the Flux release. Readers: verdicts of `readiness` name it. */
  configHash: text,
  /** Pinned release, for example `v2.9.4`. Readers: the choice of the next one, and `mayDropVersions`. */
  fluxVersion: text,
  namespace: text,
  /** True when the flux namespace is ours to remove. Readers: the next plan, which does not ask again; uninstallation. */
  ownsNamespace: z.catch(z.boolean(), false),
  /** Readers: the next plan, for components that leave or are out of scope. */
  components: texts,
  /**
   * Readers: `sync-mode`; the scope while a configuration is invalid or deleted; the default of the deletion policy. An
   * unknown one does not lose the record: it counts as the mode that never uninstalls Flux, and follows the configuration.
   */
  syncMode: z.catch(z.enum(['Once', 'ManifestsOnly', 'Reconcile']), 'ManifestsOnly'),
  /** Whether the ConfigMap contributed. Reader: its later absence is reported instead of followed. */
  fromFluxConfig: z.catch(z.boolean(), false),
  /** ManagedResource name -> name of the Secret with its content. Readers: everything that asks how far it is applied. */
  managedResources: z.record(text, text),
  /** Objects that the shoot gets, `kind.group/namespace/name`, by ManagedResource name. Reader: uninstallation. */
  objects: listsByName,

  // What was planned last, where it applies. Each plan replaces it.

  /** With a `deletionPolicy` in the configuration. Reader: uninstallation, which never reads the ConfigMap. */
  deletionPolicy: optional(z.enum(['Orphan', 'Uninstall'])),
  /** Hash of what users had written. With defaults or a policy of the landscape. Reader: `isUnedited` (decision 43). */
  layersHash: optional(text),
  /** What `flux-config` said. With a rollout of the project. Readers: `needsTurn`, `project-status` (decision 63). */
  revision: optional(text),
  /** What the operators had given. With a rollout of the landscape. Readers: `inItsTurn`, `project-status` (decision 96). */
  landscape: optional(text),
  /** With one of both: copies of Secrets of the project, for example `flux-sops flux-system/flux-sops`. Reader: `keepApplied`. */
  projectCopies: optional(texts),
  /** With `flux-config`: the Secrets of the project that were there. Reader: runs that only ManagedResources have woken. */
  projectSecrets: optional(texts),
  /** The source and the root Kustomization in the shoot, where configured. Readers: `readiness`, `sync-mode`. */
  source: optional(shootObject),
  kustomization: optional(shootObject),
  /**
   * `targetNamespace` of the root Kustomization as it was given last, empty without one; it outlives the Kustomization.
   * Absent before the first one, and in records of former versions. Reader: `judgeTargetNamespace`.
   */
  targetNamespace: optional(text),
  /** While `targetNamespace` is there because a former version wrote it, not a user (decision 82). Reader: `readiness`. */
  keepsNamespace: optional(z.literal(true)),
  /** The other configured objects that report whether they are Ready. Readers: as for the source. */
  others: optional(z.array(listedObject)),
  /** While Flux is in scope and images come from elsewhere than by default. Reader: sentences of `readiness`. */
  imagePlaces: optional(imagePlaces),
  /** One sentence for each field of the configuration that is left out. Readers: users; the next run, for new ones. */
  warnings: optional(texts),
  /** While the project is suspended and source or Kustomization are ours: who and why. Readers: `readiness`, the scope. */
  suspension: optional(text),
  /** An error out of scope, or why the last applied objects are kept; with the remedy. Reader: `readiness`. */
  problem: optional(text),

  // What a killed run must not lose.

  /** The newest release whose CRDs the shoot has accepted completely. From the first success on. Never installed below it. */
  installed: optional(text),
  /** While installed objects may carry the protection from the user's Kustomizations (decision 51). */
  protected: optional(z.literal(true)),
  /** Pending removal: Kustomizations and HelmReleases that are suspended before they are dropped. Until they are gone. */
  leaving: optional(texts),
  /**
   * After a control-plane migration, until everything is applied and they are gone: refs of objects that the former seed
   * has applied and the configuration no longer has.
   */
  surplus: optional(texts),
  /** RFC 3339: since when Flux is being removed. From the first run of a removal on; all attempts share one deadline. */
  removalBegan: optional(text),
  /** Hash of the copied Secrets that Flux in the shoot has been asked to take up. Reader: `planRequest`. */
  copiesHash: optional(text),
  /** Identity of the requests of users that Flux in the shoot has been asked to follow. Reader: `planRequest`. */
  reconcileAt: optional(text),
};

/**
 * What `sync-mode` writes after the first success, for people. It never goes. Only that it is there decides the scope, so
 * any object counts.
 */
export interface Bootstrapped {
  /** RFC 3339. */
  at: string;
  fluxVersion: string;
  configHash: string;
}

const record = z.object(recordFields);

/** Beside the record. All of them go with the end of what they are about. */
const stateFields = {
  /** Absent before the first delivery. One that cannot be read counts as absent: the objects are read from the shoot. */
  applied: optional(z.looseObject(recordFields)),
  bootstrapped: optional(z.custom<Bootstrapped>(isRecord)),
  /** RFC 3339: since when the operation has been failing, because the time of an error changes with its words. Until a success. */
  failingSince: optional(text),
  /** Why the Flux in the shoot is left alone: others manage it. One sentence. Reader: `readiness`. */
  foreign: optional(text),
  /** The Flux release of an upgrade that has begun and is not recorded yet: what it has changed is in no ManagedResource. */
  upgradingTo: optional(text),
  /** Refs of the objects that an adoption protects, until the record has them. Readers: whatever ends the adoption. */
  adopting: optional(texts),
  /** The reported error is about a configuration that is not applied. With a rollout of the project. Reader: `project-status`. */
  unapplied: optional(z.literal(true)),
};

const state = z.looseObject(stateFields);

export type Applied = z.infer<typeof record>;
/** Names an object in the shoot by what an API request needs. */
export type ShootObject = z.infer<typeof shootObject>;
/** An object from a list of the configuration. */
export type ListedObject = z.infer<typeof listedObject>;
export type ImagePlaces = z.infer<typeof imagePlaces>;
export type ExtensionState = Omit<z.infer<z.ZodMiniObject<typeof stateFields>>, 'applied'> & {
  applied?: Applied | undefined;
};

/** Returns the state of an Extension in its usual shape; undefined where it is none. */
export function stateOf(value: unknown): ExtensionState | undefined {
  const parsed = state.safeParse(value);
  return parsed.success ? (parsed.data as ExtensionState) : undefined;
}
