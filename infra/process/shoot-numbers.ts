import type { Selection } from '../../events/watcher/selections.ts';
import type { Observer } from '../../events/watcher/tracker.ts';
import { fluxState, isElsewhere } from '../../functions/project-status/flux-state.ts';
import { FLUX_STATUS, OPERATORS_NAMESPACE } from '../../shared/config/project-config.ts';
import { noticesOf } from '../../shared/flux/support.ts';
import { GRACE_SECONDS } from '../../shared/gardener/checked.ts';
import { askedOperation, HIBERNATED, timestampOf } from '../../shared/gardener/operation.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { LANDSCAPE_PHASE, ROLLOUT_PHASE } from '../../shared/gardener/rollout.ts';
import type { Extension } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { textAt } from '../../shared/shapes.ts';
import type { GaugeValue, PrometheusMetrics } from './metrics.ts';

/** So many projects of a seed, those with the most Shoots, have numbers of their own; the others are `other`. */
export const MOST_PROJECTS = 100;

const MOST_VERSIONS = 20;

/** A Shoot that is not Ready for longer is overdue. */
const OVERDUE_SECONDS = 1800;

/** The value of the label `state`; `not_ready` is a failure that no user has to correct. */
type State = 'ready' | 'progressing' | 'not_ready' | 'needs_user' | 'hibernated' | 'leaving';

/** There are 10,000 of them, so they are small. Times are seconds since 1970. */
interface Known {
  project: string;
  version: string;
  state: State;
  /** Since when somebody waits for it; undefined: it is Ready, or nobody does. */
  since?: number;
  request?: Request | undefined;
}

/** What is under way, until Flux is Ready. */
interface Request {
  /** When it was asked for; undefined: before this process began. */
  at: number | undefined;
  /** True while only Ready is missing. */
  isApplied: boolean;
}

/**
 * Folds what the watcher sees anyway into numbers about all Shoots and rollouts of its clusters. A restart lists
 * everything, so only a request that is being answered meanwhile is not measured.
 * @param releases versions of the distribution; none where the functions run elsewhere
 */
export function createShootNumbers(metrics: PrometheusMetrics, releases: readonly string[], now = Date.now) {
  const seeds = new Map<string, Map<string, Known>>();
  /** By seed: control plane -> minor version of its Kubernetes. */
  const kubernetes = new Map<string, Map<string, string>>();
  /** Undefined: nobody watches the garden. */
  let rollouts: Map<string, string | undefined> | undefined;
  /** The phase of the landscape's rollout. */
  let landscape: string | undefined;
  const seconds = () => Math.floor(now() / 1000);

  const followed = (cluster: string, before: Known | undefined, extension: Extension): Known => {
    const shoot = { ...namesOf(extension), ...stateOf(extension, seconds()) };
    const request = requestAfter(before, extension, shoot.state, seconds());
    if (request?.at === undefined || !request.isApplied) return { ...shoot, request };
    const labels = { cluster, operation: extension.status?.lastOperation?.type ?? 'Create' };
    const took = Math.max(0, now() / 1000 - request.at);
    if (before?.request?.isApplied !== true) metrics.observe('request_applied_seconds', took, labels);
    if (shoot.state !== 'ready') return { ...shoot, request };
    metrics.observe('request_ready_seconds', took, labels);
    return shoot;
  };

  return {
    /** Returns what has to see the objects of a selection; undefined: nothing of it is counted. */
    observerOf({ cluster, resource, fieldSelector }: Selection): Observer | undefined {
      if (cluster === GARDEN && fieldSelector === `metadata.name=${FLUX_STATUS}`) {
        const phases = new Map<string, string | undefined>();
        rollouts = phases;
        return (text, object) => {
          const { namespace, labels } = object?.metadata ?? {};
          if (namespace === OPERATORS_NAMESPACE) landscape = labels?.[LANDSCAPE_PHASE];
          if (object === undefined) phases.delete(text);
          else phases.set(text, labels?.[ROLLOUT_PHASE]);
        };
      }
      if (resource === resources.clusters) {
        const minors = new Map<string, string>();
        kubernetes.set(cluster, minors);
        return (text, object) => {
          const version = textAt(object?.spec, 'shoot', 'spec', 'kubernetes', 'version');
          const minor = /^v?\d+\.\d+/.exec(version ?? '')?.[0];
          // No namespace, and the name is that of the control plane.
          if (minor === undefined) minors.delete(text.slice(1));
          else minors.set(text.slice(1), minor);
        };
      }
      if (resource !== resources.extensions) return undefined;
      const shoots = new Map<string, Known>();
      seeds.set(cluster, shoots);
      return (text, object) => {
        const extension = object && extensionOf(object);
        if (extension === undefined || isElsewhere(extension)) shoots.delete(text);
        else shoots.set(text, followed(cluster, shoots.get(text), extension));
      };
    },

    /** Sets the gauges, for somebody who reads them now. */
    collect(): void {
      const time = seconds();
      const versions = [...seeds.values()].flatMap((known) => [...known.values()].map(({ version }) => version));
      const reasonsOf = reasonsAmong([...new Set([...releases, ...versions])]);
      const shoots: GaugeValue[] = [];
      const overdue: GaugeValue[] = [];
      const old: GaugeValue[] = [];
      for (const [cluster, known] of seeds) {
        const ofSeed = [...known.values()];
        const projectOf = bounded(ofSeed, 'project', MOST_PROJECTS);
        const versionOf = bounded(ofSeed, 'version', MOST_VERSIONS);
        const groups = Map.groupBy(ofSeed, (shoot) => groupOf(shoot, time));
        for (const [group, { length: count }] of groups) {
          const [project = '', version = '', state = '', isOverdue] = group.split(' ');
          const labels = { cluster, project: projectOf(project) };
          shoots.push([count, { ...labels, state, flux_version: versionOf(version) }]);
          if (isOverdue) overdue.push([count, { ...labels, state }]);
        }
        const minors = kubernetes.get(cluster);
        const released = Map.groupBy(known, ([text, { project, version }]) =>
          [project, version, minors?.get(namespaceIn(text))].join(' '),
        );
        for (const [group, { length: count }] of released) {
          const [project = '', ...release] = group.split(' ');
          const labels = { cluster, project: projectOf(project) };
          for (const reason of reasonsOf(release.join(' '))) old.push([count, { ...labels, reason }]);
        }
      }
      metrics.gauges('shoots', shoots);
      metrics.gauges('shoots_overdue', overdue);
      metrics.gauges('shoots_behind', old);
      if (rollouts === undefined) return;
      for (const [state, phase] of Object.entries({ in_progress: 'in-progress', paused: 'paused' })) {
        metrics.gauge('rollouts', [...rollouts.values()].filter((one) => one === phase).length, { state });
        metrics.gauge('landscape_rollout', Number(landscape === phase), { state });
      }
    },
  };
}

const namespaceIn = (text: string) => text.slice(0, text.indexOf('/'));

/** Returns what is wrong with a Flux release and a Kubernetes, as words: most Shoots share a few of both. */
function reasonsAmong(releases: readonly string[]): (words: string) => string[] {
  const known = new Map<string, string[]>();
  return (words) => {
    const [version = '', kubernetes] = words.split(' ');
    const reasons = known.get(words) ?? Object.keys(noticesOf(version, releases, kubernetes));
    known.set(words, reasons);
    return reasons;
  };
}

const OTHER = 'other';

/** Returns a function that keeps the names of most Shoots, and replaces all others. */
function bounded(shoots: readonly Known[], by: 'project' | 'version', most: number): (name: string) => string {
  const counts = [...Map.groupBy(shoots, (shoot) => shoot[by])].map(([name, { length }]) => ({ name, length }));
  const sorted = counts.toSorted((one, other) => other.length - one.length || (one.name < other.name ? -1 : 1));
  const kept = new Set(sorted.slice(0, most).map(({ name }) => name));
  return (name) => (kept.has(name) ? name : OTHER);
}

/** Returns what Shoots have in common that are counted together, as words; it also changes with the time. */
function groupOf({ project, version, state, since }: Known, now: number): string {
  const age = since === undefined ? 0 : now - since;
  // As in `flux-status`.
  const shown = state === 'not_ready' && age < GRACE_SECONDS ? 'progressing' : state;
  return `${project} ${version} ${shown}${age >= OVERDUE_SECONDS ? ' overdue' : ''}`;
}

function namesOf({ metadata: { namespace = '' }, status }: Extension): Pick<Known, 'project' | 'version'> {
  const project = /^shoot--(.+?)--./.exec(namespace)?.[1] ?? OTHER;
  return { project, version: status?.state?.applied?.fluxVersion ?? 'none' };
}

function stateOf(extension: Extension, now: number): Pick<Known, 'state' | 'since'> {
  const { metadata, status = {} } = extension;
  if (metadata.deletionTimestamp !== undefined) return { state: 'leaving' };
  if (status.lastOperation?.description === HIBERNATED) return { state: 'hibernated' };
  const flux = fluxState(extension);
  if (flux.type === 'ready') return { state: 'ready' };
  // The next attempt of an operation that fails is no news.
  const times = [flux.since, status.state?.failingSince ?? flux.since].map((time) => Date.parse(time) / 1000 || now);
  const since = Math.min(...times);
  if (flux.type === 'working') return { state: 'progressing', since };
  return { state: flux.needsUser ? 'needs_user' : 'not_ready', since };
}

/**
 * Follows one request from gardenlet's timestamp, or from the first sight of an operation that nobody asked for, until
 * it is applied and until Flux is Ready. What a user has to correct first says nothing about us.
 */
function requestAfter(before: Known | undefined, extension: Extension, state: State, now: number): Request | undefined {
  if (state === 'needs_user' || state === 'hibernated' || state === 'leaving') return undefined;
  const request = before?.request;
  const isAsked = askedOperation(extension) !== undefined;
  if (!isAsked && extension.status?.lastOperation?.state === 'Succeeded')
    return request?.at === undefined ? undefined : { ...request, isApplied: true };
  if (request?.isApplied === false && !(isAsked && request.at === undefined)) return request;
  if (isAsked) return { at: timestampOf(extension) / 1000 || now, isApplied: false };
  return { at: before && now, isApplied: false };
}
