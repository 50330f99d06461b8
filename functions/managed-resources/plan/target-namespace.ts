import { MAIN_KUSTOMIZATION } from '../../../shared/config/project-config.ts';
import { FORMER_TARGET_NAMESPACE, withFormerNamespace } from '../../../shared/config/target-namespace.ts';
import type { EffectiveConfig } from '../../../shared/config/types.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../../shared/gardener/types.ts';

/** The Kustomization as it was read somewhere; `targetNamespace` is absent where it has none. */
export type Seen = { targetNamespace?: string | undefined } | 'absent' | 'no answer';

/** What is known about the `targetNamespace` that a Shoot runs with. */
export interface NamespaceFacts {
  /** The last record. */
  previous: Applied | undefined;
  /** True: Gardener is creating the Shoot, so nothing of us has been there yet. */
  isNew: boolean;
  /** What the ManagedResource on the seed holds; undefined: not read yet. */
  held?: Seen | undefined;
  /** What is in the shoot; undefined: not read yet. */
  inShoot?: Seen | undefined;
}

/** Whether a Shoot keeps the former `targetNamespace`, or what to read before that is known. */
export type NamespaceVerdict = 'keep' | 'none' | 'read held' | 'read shoot' | 'wait';

/**
 * Decides about a `targetNamespace` that no layer writes: one that moved every object into `default` stays where it is,
 * because without it Flux would delete these objects (decision 82). Where the Kustomization is ours, the record says what
 * it was given last, or else the ManagedResource; where it was released, users may have changed it in the shoot.
 */
export function judgeTargetNamespace(facts: NamespaceFacts): NamespaceVerdict {
  const { previous, isNew, held, inShoot } = facts;
  const recorded = previous?.targetNamespace;
  const isReleased = previous !== undefined && previous.managedResources[names.sync] === undefined;
  if (recorded !== undefined && !isReleased) return verdictOn(recorded);
  if (held === undefined) return 'read held';
  if (typeof held === 'object') return verdictOn(held.targetNamespace);
  if (isNew) return 'none';
  if (inShoot === undefined) return 'read shoot';
  if (typeof inShoot === 'object') return verdictOn(inShoot.targetNamespace);
  if (previous !== undefined && keepsByRecord(previous)) return 'keep';
  return recorded === undefined && inShoot === 'no answer' ? 'wait' : 'none';
}

function verdictOn(targetNamespace: string | undefined): 'keep' | 'none' {
  return targetNamespace === FORMER_TARGET_NAMESPACE ? 'keep' : 'none';
}

/** The same by the record alone; one of a former version names only the Kustomization that was given the namespace. */
export function keepsByRecord({ targetNamespace, kustomization, fromFluxConfig }: Applied): boolean {
  if (targetNamespace !== undefined) return verdictOn(targetNamespace) === 'keep';
  return fromFluxConfig && kustomization?.name === MAIN_KUSTOMIZATION && kustomization.place === undefined;
}

/** Returns a configuration as a Shoot with this record gets it. */
export function asRecorded(config: EffectiveConfig, previous: Applied): EffectiveConfig {
  return keepsByRecord(previous) ? withFormerNamespace(config) : config;
}
