import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import { MAIN_GIT_REPOSITORY, MAIN_KUSTOMIZATION } from '../../shared/gardener/project-config.ts';
import type { Applied, FluxStatus, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { controllersVerdict } from './controllers.ts';
import { explain } from './explain/explain.ts';
import { nameOf, type Origin, remediesFor } from './explain/remedies.ts';
import { type Readiness, readiness } from './kstatus.ts';
import { type Before, staysTold } from './steady.ts';
import { hashed, hashText, SUSPENDED, type Told, type Verdict } from './verdict.ts';

/** The name of a branch or tag, and a digest; the shoot is its owner's, who may write there whatever they like. */
const LONGEST_REVISION = 400;

/** What the shoot answered; undefined objects are not there. */
export interface Seen {
  /** Flux Deployments in the flux namespace. */
  deployments: KubeObject[];
  source?: KubeObject | undefined;
  kustomization?: KubeObject | undefined;
}

/** Conditions and the summary for one config hash. */
export interface Judged {
  verdicts: Verdict[];
  flux: FluxStatus;
  /** True where something told before stays only because its controller is at work: how that ends is open. */
  isOpen?: boolean;
}

/** Pure: from what the shoot holds to conditions; each says which config hash it judged. */
export function judge(applied: Applied, seen: Seen, before: Before): Judged {
  const same = ofSameConfig(applied, before);
  const source = objectVerdict('SourceReady', applied, applied.source, seen.source, same);
  const kustomization = objectVerdict('KustomizationReady', applied, applied.kustomization, seen.kustomization, same);
  const objects = [source, kustomization].filter((verdict) => verdict !== undefined);
  const synced = objects.map(({ verdict }) => verdict);
  const verdicts = [controllersVerdict(applied, seen.deployments), ...synced];
  const revision = (seen.kustomization?.status as { lastAppliedRevision?: string } | undefined)?.lastAppliedRevision;
  const notReady = verdicts.filter(({ status }) => status !== 'True').map(({ message }) => message);
  return {
    verdicts: verdicts.map((verdict) => hashed(verdict, applied)),
    flux: {
      configHash: applied.configHash,
      ready: synced.every(({ status }) => status === 'True'),
      ...(revision === undefined ? {} : { appliedRevision: safeText(revision, LONGEST_REVISION) }),
      ...(notReady.length === 0 ? {} : { notReady }),
    },
    ...(objects.some(({ isOpen }) => isOpen) && { isOpen: true }),
  };
}

/** What cannot be judged now, for example because the shoot cannot be asked. */
export function unknown(applied: Applied, reason: string, message: string): Judged {
  const types: Verdict['type'][] = [
    'FluxReady',
    ...(applied.source === undefined ? [] : ['SourceReady' as const]),
    ...(applied.kustomization === undefined ? [] : ['KustomizationReady' as const]),
  ];
  return {
    verdicts: types.map((type) => hashed({ type, status: 'Unknown', reason, message }, applied)),
    flux: { configHash: applied.configHash, ready: false, notReady: [message] },
  };
}

function objectVerdict(
  type: 'SourceReady' | 'KustomizationReady',
  applied: Applied,
  wanted: ShootObject | undefined,
  object: KubeObject | undefined,
  before: Before,
): { verdict: Verdict; isOpen: boolean } | undefined {
  if (wanted === undefined) return undefined;
  const origin = originOf(applied, wanted);
  if (object === undefined) {
    const remedy = origin.isReleased
      ? 'create it again, it is yours, or set syncMode to ManifestsOnly or Reconcile'
      : 'the next reconciliation of the Shoot makes it anew';
    const message = `${wanted.kind} ${wanted.namespace}/${wanted.name} is not in the shoot; ${remedy}.`;
    return { verdict: { type, status: 'False', reason: 'Missing', message }, isOpen: false };
  }
  const state = readiness(object);
  const told = state.state === 'in progress' ? staysTold(type, state.attempt, before) : undefined;
  return { verdict: told ?? { type, ...objectState(object, state, origin) }, isOpen: told !== undefined };
}

function objectState(object: KubeObject, state: Readiness, origin: Origin): Omit<Told & Verdict, 'type'> {
  const name = nameOf(object);
  switch (state.state) {
    case 'current': {
      const at = state.revision === undefined ? '' : ` at ${safeText(state.revision, LONGEST_REVISION)}`;
      return { status: 'True', reason: 'Ready', message: `${name} is Ready${at}.` };
    }
    case 'suspended': {
      const { suspend } = remediesFor(object, origin).places;
      const message = `${name} is suspended and follows nothing; set ${suspend} to false when it is to go on.`;
      return { status: 'False', reason: SUSPENDED, message };
    }
    case 'terminating': {
      const message = `${name} is being deleted; see which of its finalizers nobody takes away, should that last.`;
      return { status: 'False', reason: 'Terminating', message };
    }
    default: {
      const { reason, message, codes } = explain(object, state.message, origin);
      const fallback = state.state === 'failed' ? 'Stalled' : 'Progressing';
      return { status: 'False', reason: reason ?? fallback, message, ...(codes.length > 0 && { codes }) };
    }
  }
}

/** Where the user finds what to mend: the names of `flux-config` are fixed. */
function originOf(applied: Applied, { name }: ShootObject): Origin {
  const isMain = name === MAIN_GIT_REPOSITORY || name === MAIN_KUSTOMIZATION;
  return {
    from: applied.fromFluxConfig && isMain ? 'flux-config' : 'providerConfig',
    isReleased: applied.managedResources[managedResourceNames.sync] === undefined,
  };
}

/** The conditions that judge the same configuration, without its hash. */
function ofSameConfig(applied: Applied, { conditions, now }: Before): Before {
  const end = hashText(applied);
  const same = conditions.filter(({ message }) => message.endsWith(end));
  return { conditions: same.map((one) => ({ ...one, message: one.message.slice(0, -end.length) })), now };
}
