import semver from 'semver';
import type { Selection } from '../../events/watcher/selections.ts';
import type { Observer } from '../../events/watcher/tracker.ts';
import { fluxState, isElsewhere } from '../../functions/project-status/flux-state.ts';
import { FLUX_STATUS } from '../../shared/config/project-config.ts';
import { GRACE_SECONDS } from '../../shared/gardener/checked.ts';
import { askedOperation, HIBERNATED } from '../../shared/gardener/operation.ts';
import { extensionOf } from '../../shared/gardener/read-objects.ts';
import { ROLLOUT_PHASE, type RolloutPhase } from '../../shared/gardener/rollout.ts';
import { type Extension, TIMESTAMP_ANNOTATION } from '../../shared/gardener/types.ts';
import { resources } from '../../shared/kube/resource.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { GaugeValue, PrometheusMetrics } from './metrics.ts';

/** So many projects of a seed, those with the most Shoots, have numbers of their own; the others are `other`. */
export const MOST_PROJECTS = 100;

const MOST_VERSIONS = 20;

/** A Shoot that is not Ready for longer is overdue. */
const OVERDUE_SECONDS = 1800;

/** The value of the label `state`; `not_ready` is a failure that no user has to correct. */
type State = 'ready' | 'progressing' | 'not_ready' | 'needs_user' | 'hibernated' | 'leaving';

/** What Shoots of a seed have in common, and how many there are. */
interface Group {
  project: string;
  version: string;
  state: State;
  count: number;
  /** So many fail for so short a time that they count as progressing. */
  young: number;
  overdue: number;
}

/** There are 10,000 of them, so they are small. Times are seconds since 1970. */
interface Known {
  group: Group;
  /** Since when it is not Ready. */
  since: number;
  /** When what is under way was asked for; 0: nothing is; `UNSEEN`: before this process began. */
  requested: number;
  /** True while only Ready is missing. */
  isApplied: boolean;
}

interface Seed {
  shoots: Map<string, Known>;
  groups: Map<string, Group>;
}

const UNSEEN = -1;

/**
 * Folds what the watcher sees anyway into numbers about all Shoots and rollouts of its clusters. A restart lists
 * everything, so only a request that is being answered meanwhile is not measured.
 * @param releases versions of the distribution; none where the functions run elsewhere
 */
export function createShootNumbers(metrics: PrometheusMetrics, releases: readonly string[], now = Date.now) {
  const seeds = new Map<string, Seed>();
  const rollouts = new Map<string, RolloutPhase>();
  let seesGarden = false;
  const seconds = () => Math.floor(now() / 1000);

  const followed = (cluster: string, groups: Seed['groups'], before: Known | undefined, extension: Extension) => {
    const { state, since } = stateOf(extension, seconds());
    const { namespace = '' } = extension.metadata;
    const project = /^shoot--(.+?)--./.exec(namespace)?.[1] ?? OTHER;
    const version = extension.status?.state?.applied?.fluxVersion ?? 'none';
    const id = `${project} ${version} ${state}`;
    const group = groups.get(id) ?? { project, version, state, count: 0, young: 0, overdue: 0 };
    groups.set(id, group);
    const { requested, isApplied, observed } = requestAfter(before, extension, state, seconds());
    const labels = { cluster, operation: extension.status?.lastOperation?.type ?? 'Create' };
    const took = Math.max(0, now() / 1000 - requested);
    if (observed.includes('applied')) metrics.observe('request_applied_seconds', took, labels);
    if (observed.includes('ready')) metrics.observe('request_ready_seconds', took, labels);
    return { group, since, requested: observed.includes('ready') ? 0 : requested, isApplied };
  };

  return {
    /** Returns what has to see the objects of a selection; undefined: nothing of it is counted. */
    observerOf({ cluster, resource, fieldSelector }: Selection): Observer | undefined {
      if (cluster === GARDEN && fieldSelector === `metadata.name=${FLUX_STATUS}`) {
        seesGarden = true;
        return (text, object) => {
          const phase = object?.metadata.labels?.[ROLLOUT_PHASE];
          if (phase === 'in-progress' || phase === 'paused') rollouts.set(text, phase);
          else rollouts.delete(text);
        };
      }
      if (resource !== resources.extensions) return undefined;
      const { shoots, groups }: Seed = { shoots: new Map(), groups: new Map() };
      seeds.set(cluster, { shoots, groups });
      return (text, object) => {
        const extension = object && extensionOf(object);
        if (extension === undefined || isElsewhere(extension)) shoots.delete(text);
        else shoots.set(text, followed(cluster, groups, shoots.get(text), extension));
      };
    },

    /** Sets the gauges, for somebody who reads them now. */
    collect(): void {
      for (const seed of seeds.values()) count(seed, seconds());
      const all = [...seeds.values()].flatMap(({ groups }) => [...groups.values()]);
      const behind = versionsBehind([...new Set([...releases, ...all.map(({ version }) => version)])]);
      const shoots: GaugeValue[] = [];
      const overdue: GaugeValue[] = [];
      const old: GaugeValue[] = [];
      for (const [cluster, { groups }] of seeds) {
        const ofSeed = [...groups.values()];
        const projectOf = bounded(ofSeed, 'project', MOST_PROJECTS);
        const versionOf = bounded(ofSeed, 'version', MOST_VERSIONS);
        for (const { version, state, count, young, ...group } of ofSeed) {
          const labels = { cluster, project: projectOf(group.project) };
          const flux = { ...labels, state, flux_version: versionOf(version) };
          shoots.push([count - young, flux], [young, { ...flux, state: 'progressing' }]);
          overdue.push([group.overdue, { ...labels, state }]);
          if (behind.has(version)) old.push([count, labels]);
        }
      }
      metrics.gauges('shoots', shoots);
      metrics.gauges('shoots_overdue', overdue);
      metrics.gauges('shoots_behind', old);
      if (!seesGarden) return;
      for (const [state, phase] of Object.entries({ in_progress: 'in-progress', paused: 'paused' })) {
        metrics.gauge('rollouts', [...rollouts.values()].filter((one) => one === phase).length, { state });
      }
    },
  };
}

const OTHER = 'other';

/** Counts the Shoots of each group, and drops groups without any: at once, because a state also changes with the time. */
function count({ shoots, groups }: Seed, now: number): void {
  for (const group of groups.values()) Object.assign(group, { count: 0, young: 0, overdue: 0 });
  for (const { group, since } of shoots.values()) {
    group.count++;
    if (group.state === 'ready' || group.state === 'hibernated' || group.state === 'leaving') continue;
    // As in `flux-status`.
    if (group.state === 'not_ready' && now - since < GRACE_SECONDS) group.young++;
    if (now - since >= OVERDUE_SECONDS) group.overdue++;
  }
  for (const [id, group] of groups) if (group.count === 0) groups.delete(id);
}

/** Returns a function that keeps the names of most Shoots, and replaces all others. */
function bounded(groups: readonly Group[], by: 'project' | 'version', most: number): (name: string) => string {
  const counts = new Map<string, number>();
  for (const group of groups) counts.set(group[by], (counts.get(group[by]) ?? 0) + group.count);
  const kept = [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, most);
  const named = new Set(kept.map(([name]) => name));
  return (name) => (named.has(name) ? name : OTHER);
}

/** Returns the state that an Extension says, and since when a Shoot that is not Ready is not. */
function stateOf(extension: Extension, now: number): { state: State; since: number } {
  const { metadata, status = {} } = extension;
  if (metadata.deletionTimestamp !== undefined) return { state: 'leaving', since: now };
  if (status.lastOperation?.description === HIBERNATED) return { state: 'hibernated', since: now };
  const flux = fluxState(extension);
  // The next attempt of an operation that fails is no news.
  const times = [flux.since, status.state?.failingSince ?? flux.since].map((time) => Date.parse(time) / 1000 || now);
  const since = Math.min(...times);
  if (flux.type === 'ready') return { state: 'ready', since };
  if (flux.type === 'working') return { state: 'progressing', since };
  return { state: flux.needsUser ? 'needs_user' : 'not_ready', since };
}

/**
 * Follows one request from gardenlet's timestamp, or from the first sight of an operation that nobody asked for, until
 * it is applied and until Flux is Ready. What a user has to correct first says nothing about us.
 */
function requestAfter(
  before: Known | undefined,
  extension: Extension,
  state: State,
  now: number,
): Pick<Known, 'requested' | 'isApplied'> & { observed: ('applied' | 'ready')[] } {
  if (state === 'needs_user' || state === 'hibernated' || state === 'leaving')
    return { requested: 0, isApplied: false, observed: [] };
  const { requested = 0, isApplied = false } = before ?? {};
  const asked = askedOperation(extension) !== undefined;
  if (asked || extension.status?.lastOperation?.state !== 'Succeeded') {
    const isFollowed = requested !== 0 && !isApplied && !(asked && requested === UNSEEN);
    if (isFollowed) return { requested, isApplied, observed: [] };
    const at = Date.parse(extension.metadata.annotations?.[TIMESTAMP_ANNOTATION] ?? '') / 1000 || now;
    const unasked = before === undefined ? UNSEEN : now;
    return { requested: Math.floor(asked ? at : unasked), isApplied: false, observed: [] };
  }
  if (requested <= 0) return { requested: 0, isApplied: false, observed: [] };
  const observed = [...(isApplied ? [] : ['applied' as const]), ...(state === 'ready' ? ['ready' as const] : [])];
  return { requested, isApplied: true, observed };
}

/** Flux maintains so many minor versions. */
const MAINTAINED_MINORS = 3;

/**
 * Returns the versions that lack a fix: there is a newer one of the same minor version, or the minor version is no longer
 * maintained, judged by the newest version.
 */
export function versionsBehind(versions: readonly string[]): Set<string> {
  const known = versions.flatMap((version) => semver.parse(version) ?? []).sort(semver.compare);
  const newest = known.at(-1);
  const isBehind = (version: semver.SemVer) =>
    newest !== undefined &&
    (version.major < newest.major ||
      version.minor <= newest.minor - MAINTAINED_MINORS ||
      known.some((other) => other.minor === version.minor && semver.gt(other, version)));
  return new Set(versions.filter((version) => known.some((one) => one.raw === version && isBehind(one))));
}
