import { type Readiness, readiness } from '../../shared/flux/kstatus.ts';
import type { Applied, FluxStatus, ShootObject } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';

/** What the shoot answered; undefined objects are not there. */
export interface Seen {
  /** Flux Deployments in the flux namespace. */
  deployments: KubeObject[];
  source?: KubeObject | undefined;
  kustomization?: KubeObject | undefined;
}

/** A condition without its times. */
export interface Verdict {
  type: 'FluxReady' | 'SourceReady' | 'KustomizationReady';
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** Conditions and the summary for one config hash. */
export interface Judged {
  verdicts: Verdict[];
  flux: FluxStatus;
}

/** Pure: from what the shoot holds to conditions; each says which config hash it judged. */
export function judge(applied: Applied, seen: Seen): Judged {
  const flux = fluxVerdict(applied, seen.deployments);
  const source = objectVerdict('SourceReady', applied, applied.source, seen.source);
  const kustomization = objectVerdict('KustomizationReady', applied, applied.kustomization, seen.kustomization);
  const synced = [source, kustomization].filter((verdict) => verdict !== undefined);
  const verdicts = [flux, ...synced];
  const revision = seen.kustomization === undefined ? undefined : revisionOf(readiness(seen.kustomization));
  const notReady = verdicts.filter(({ status }) => status !== 'True').map(({ message }) => message);
  return {
    verdicts,
    flux: {
      configHash: applied.configHash,
      ready: synced.every(({ status }) => status === 'True'),
      ...(revision === undefined ? {} : { appliedRevision: revision }),
      ...(notReady.length === 0 ? {} : { notReady }),
    },
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
    verdicts: types.map((type) => ({ type, status: 'Unknown', reason, message: hashed(message, applied) })),
    flux: { configHash: applied.configHash, ready: false, notReady: [message] },
  };
}

function fluxVerdict(applied: Applied, deployments: KubeObject[]): Verdict {
  const waiting = applied.components.filter((component) => {
    const deployment = deployments.find(({ metadata }) => metadata.name === component);
    return deployment === undefined || !isAvailable(deployment);
  });
  return waiting.length === 0
    ? verdict('FluxReady', 'True', 'ControllersAvailable', `Flux ${applied.fluxVersion} runs.`, applied)
    : verdict('FluxReady', 'False', 'ControllersNotAvailable', `Not available yet: ${waiting.join(', ')}.`, applied);
}

function isAvailable({ metadata, spec, status }: KubeObject): boolean {
  const { observedGeneration, availableReplicas = 0 } = (status ?? {}) as {
    observedGeneration?: number;
    availableReplicas?: number;
  };
  const replicas = (spec as { replicas?: number } | undefined)?.replicas ?? 1;
  return observedGeneration === metadata.generation && availableReplicas >= replicas;
}

function objectVerdict(
  type: 'SourceReady' | 'KustomizationReady',
  applied: Applied,
  wanted: ShootObject | undefined,
  object: KubeObject | undefined,
): Verdict | undefined {
  if (wanted === undefined) return undefined;
  const name = `${wanted.kind} ${wanted.namespace}/${wanted.name}`;
  if (object === undefined) return verdict(type, 'False', 'Missing', `${name} is not in the shoot.`, applied);
  const state = readiness(object);
  if (state.state === 'current') {
    const at = state.revision === undefined ? '' : ` at ${state.revision}`;
    return verdict(type, 'True', 'Ready', `${name} is Ready${at}.`, applied);
  }
  const reasons = {
    'in progress': 'Progressing',
    failed: 'Stalled',
    terminating: 'Terminating',
    suspended: 'Suspended',
  };
  return verdict(type, 'False', reasons[state.state], `${name}: ${state.message}`, applied);
}

function revisionOf(state: Readiness): string | undefined {
  return state.state === 'current' ? state.revision : undefined;
}

function verdict(
  type: Verdict['type'],
  status: Verdict['status'],
  reason: string,
  message: string,
  applied: Applied,
): Verdict {
  return { type, status, reason, message: hashed(message, applied) };
}

function hashed(message: string, applied: Applied): string {
  return `${message} (config ${applied.configHash})`;
}
