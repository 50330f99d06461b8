import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../shared/gardener/operation.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import { type RefusalKind, refusalIn } from '../../shared/kube/refusal.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { beginOf, safeText } from '../../shared/runtime/safe-text.ts';
import { isObservedGeneration } from './kstatus.ts';
import { conditionOf, specOf, statusOf } from './seen.ts';
import type { Previous, Verdict } from './verdict.ts';

/** Why the API server rejects the pods of the controllers, and the remedy. */
const refusals: Partial<Record<RefusalKind, (by: string) => string>> = {
  quota: (by) => `the ResourceQuota "${by}" of the shoot has no room for them; raise it`,
  podSecurity: (by) =>
    `the namespace enforces the Pod Security Standard "${by}"; remove or relax the pod-security.kubernetes.io/enforce label of that namespace`,
  webhookDenies: (by) => `the admission webhook "${by}" of the shoot denies them; add an exception for Flux`,
  webhookFails: (by) => `the admission webhook "${by}" of the shoot does not respond; fix or remove it`,
  policyDenies: (by) => `the policy "${by}" of the shoot denies them; add an exception for Flux`,
};

/** What was read of the controllers in the shoot. */
export interface ObservedControllers {
  deployments: KubeObject[];
  /** What the Pods of controllers say that do not become available; read only where there are any. */
  pods?: PodReport | undefined;
}

/** Why Pods do not start. Its texts are safe to show. */
export interface PodReport {
  reason: 'ImageNotPulled' | 'ReferenceMissing';
  /** The image that cannot be pulled, or nothing. */
  subject: string;
  /** What is wrong and where to correct it. */
  sentence: string;
  /** The words of the kubelet. */
  quoted: string;
  /** False: the kubelet did not say why. */
  hasCause: boolean;
  /** True: it will not be pulled before a user has corrected something. */
  needsUser: boolean;
}

/** Returns whether the Flux controllers are running. */
export function controllersVerdict(applied: Applied, observed: ObservedControllers, previous: Previous): Verdict {
  const { deployments, pods } = observed;
  const waiting = waitingControllers(applied, deployments);
  if (waiting.length > 0 && pods !== undefined) return podsVerdict(waiting, pods, previous);
  if (waiting.length === 0) {
    const message = `Flux ${releasesOf(applied, deployments).join(', ')} is running.`;
    return { type: 'FluxReady', status: 'True', reason: 'ControllersAvailable', message };
  }
  const names = waiting.map(({ name }) => name).join(', ');
  const [refused] = waiting.flatMap(({ deployment }) => refusedPods(deployment));
  // No progress for ten minutes, the default of Deployments.
  const isLate = waiting.some(
    ({ deployment }) => conditionOf(deployment, 'Progressing')?.reason === 'ProgressDeadlineExceeded',
  );
  const isOff = waiting.some(({ deployment }) => desiredReplicas(deployment) === 0);
  const why = refused ?? (isOff ? OFF : isLate ? LATE : undefined);
  return {
    type: 'FluxReady',
    status: 'False',
    reason: refused === undefined ? 'ControllersNotAvailable' : 'ControllersRefused',
    message: why === undefined ? `Not available yet: ${names}.` : `Not available: ${names}; ${why}`,
    ...(refused === undefined ? {} : { codes: [RETRYABLE_CONFIGURATION_PROBLEM] }),
  };
}

type Waiting = ReturnType<typeof waitingControllers>[number];

function waitingControllers(applied: Applied, deployments: KubeObject[]) {
  return controllerNames(applied)
    .map((name) => ({ name, deployment: deployments.find(({ metadata }) => metadata.name === name) }))
    .filter(({ deployment }) => deployment === undefined || !isAvailable(deployment));
}

/** A Pod that starts usually has its image by then. */
const PATIENCE_MS = 20_000;

/** Returns the names of the controllers whose Pods say more: those that have been about to change for a while. */
export function lateControllers(applied: Applied, deployments: KubeObject[], now: Date): string[] {
  return waitingControllers(applied, deployments).flatMap(({ name, deployment }) => {
    const since = Date.parse(conditionOf(deployment, 'Progressing')?.lastUpdateTime ?? '');
    return now.getTime() - since >= PATIENCE_MS ? [name] : [];
  });
}

function podsVerdict(waiting: readonly Waiting[], pods: PodReport, { conditions }: Previous): Verdict {
  const hasFormer = ({ deployment }: Waiting) => (statusOf(deployment).availableReplicas ?? 0) > 0;
  const namesOf = (some: readonly Waiting[]) => some.map(({ name }) => name).join(', ');
  const [running, stopped] = [waiting.filter(hasFormer), waiting.filter((one) => !hasFormer(one))];
  // What is wrong comes first: lines of flux-status are short.
  const begin = [
    pods.sentence,
    ...(stopped.length > 0 ? [`Not available until then: ${namesOf(stopped)}.`] : []),
    ...(running.length > 0 ? [`The former Pods of ${namesOf(running)} still run.`] : []),
  ].join(' ');
  const published = conditions.find(({ type, reason }) => type === 'FluxReady' && reason === pods.reason);
  // The kubelet says why only now and then, with other addresses and numbers each time.
  const isSame = published?.message.startsWith(begin) === true;
  const saidMore = !pods.hasCause && published?.message.includes(`"${pods.subject}"`) === true;
  if (published !== undefined && (isSame || saidMore)) {
    const { reason, message, codes } = published;
    return { type: 'FluxReady', status: 'False', reason, message, ...(codes && { codes }) };
  }
  const quoted = pods.quoted === '' ? '' : ` Kubernetes says: ${pods.quoted}`;
  return {
    type: 'FluxReady',
    status: 'False',
    reason: pods.reason,
    message: `${begin}${quoted}`,
    ...(pods.needsUser && { codes: [RETRYABLE_CONFIGURATION_PROBLEM] }),
  };
}

/** The components, and those of their shards that were applied. */
function controllerNames({ components, objects }: Applied): string[] {
  const refs = Object.values(objects).flat();
  const applied = refs.filter((ref) => ref.startsWith('Deployment.apps/')).map((ref) => ref.split('/').at(-1) ?? '');
  const isShard = (name: string) =>
    !components.includes(name) && components.some((component) => name.startsWith(`${component}-`));
  return [...components, ...applied.filter(isShard)];
}

const OFF = 'some are scaled to 0 replicas; scale them to 1.';
const LATE =
  'check their pods in the shoot: nodes may be missing, or images cannot be pulled (registry, imagePullSecret), or a volume cannot be provided (storage).';

/** Each component has one Deployment; more releases than these are not named. */
const MOST_RELEASES = 10;

/** The releases in the labels of the Deployments: users may install another release once the controllers are released. */
function releasesOf({ components, fluxVersion }: Applied, deployments: KubeObject[]): string[] {
  const own = deployments.filter(({ metadata }) => components.includes(metadata.name));
  const releases = own.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/version'] ?? fluxVersion);
  // A label of Kubernetes has at most 63 characters; the API of a shoot may answer with any, and with many Deployments.
  return [...new Set(releases.slice(0, MOST_RELEASES).map((release) => safeText(release, 63)))];
}

/** The same rules as in `kubectl rollout status`: pods of the previous release do not count. */
function isAvailable(deployment: KubeObject): boolean {
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = statusOf(deployment);
  const desired = desiredReplicas(deployment);
  if (desired === 0 || !isObservedGeneration(deployment)) return false;
  return updatedReplicas >= desired && replicas <= updatedReplicas && availableReplicas >= desired;
}

const desiredReplicas = (deployment: KubeObject | undefined) => specOf(deployment).replicas ?? 1;

function refusedPods(deployment: KubeObject | undefined): string[] {
  const failure = conditionOf(deployment, 'ReplicaFailure');
  if (failure?.status !== 'True') return [];
  const message = beginOf(failure.message);
  const refusal = refusalIn(message);
  const sentence = refusal && refusals[refusal.kind]?.(refusal.by ?? '');
  const quoted = safeText(message);
  // The parts that come from the message may be long and may contain secrets.
  const explanation = sentence === undefined ? 'their pods are rejected' : safeText(sentence);
  return [`${explanation}. Kubernetes says: ${quoted}`];
}
