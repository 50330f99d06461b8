import { secondsUntilNextCheck } from '../../../functions/readiness/next-check.ts';
import type { Rollout } from '../../../shared/config/rollout.ts';
import { secondsUntilWindow } from '../../../shared/gardener/maintenance-window.ts';
import {
  compareOrder,
  isPaused,
  type RolloutState,
  rolloutIn,
  rolloutText,
  stateAt,
} from '../../../shared/gardener/rollout.ts';
import { type Line, readyShootsOf, shootsOf } from '../../../shared/gardener/status-map.ts';
import type { Extension, Shoot } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { ageOf } from '../print.ts';
import type { Subject } from './configuration.ts';
import { kubectl, type Link, safeSentence } from './link.ts';

/** What decides about what comes next. */
export interface Ahead {
  shoot: Shoot | undefined;
  line: Line | undefined;
  /** `flux-status`, where it may be read. */
  statusMap: KubeObject | undefined;
  /** The key `rollout` of `flux-config`. */
  rollout: Rollout | undefined;
  extension: Extension | undefined;
}

/** Explains what comes next and when: the Shoot's turn in a rollout, its maintenance window, the next check of Flux. */
export function explainNext(ahead: Ahead, subject: Subject, now: Date): Link {
  const turn = turnOf(ahead, subject, now);
  const check = checkText(ahead, now);
  const window = windowText(ahead, now);
  const texts = [...(turn?.text === undefined ? [] : [turn.text]), check, ...(window === undefined ? [] : [window])];
  const [text = '', ...details] = texts;
  return { name: 'Next', mark: 'ok', ...turn, text, details: [...(turn?.details ?? []), ...details] };
}

/** Returns the place of the Shoot in a rollout of its project; undefined where there is nothing to wait for. */
function turnOf(
  { statusMap, rollout }: Ahead,
  { namespace, name, kubectl: flags }: Subject,
  now: Date,
): Omit<Link, 'name'> | undefined {
  const live = rolloutIn(statusMap);
  if (live === undefined || statusMap === undefined) return undefined;
  const state = stateAt(live, Math.floor(now.getTime() / 1000), readyShootsOf(statusMap));
  const shoots = shootsOf(statusMap).size;
  const sentence = safeSentence(rolloutText(state, shoots));
  const command = kubectl(['get', 'configmap', 'flux-status', '-o', 'jsonpath={.data.Rollout}'], namespace, flags);
  const turn = { sentence, command, details: [`Rollout: ${sentence}`] };
  const changed = state.inProgress.get(name);
  if (changed !== undefined) {
    const since = ageOf(new Date(changed.since * 1000).toISOString(), now);
    return {
      ...turn,
      mark: 'attention',
      text: `revision ${state.revision} is being applied to this Shoot for ${since}`,
    };
  }
  if (state.waiting.has(name)) {
    const isStopped = isPaused(state, shoots);
    const where = isStopped ? 'is paused' : `is under way, and ${waitingText(state, name)}`;
    const inWindow = rollout?.maintenanceWindow === true && !isStopped ? ' and the maintenance window' : '';
    const text = `this Shoot waits for its turn${inWindow}: the rollout of revision ${state.revision} ${where}`;
    return { ...turn, mark: isStopped ? 'broken' : 'attention', text };
  }
  if (state.failed.has(name)) {
    return { ...turn, mark: 'attention', text: `this Shoot has failed in the rollout of revision ${state.revision}` };
  }
  return {
    mark: 'ok',
    text: `no turn to wait for in the rollout of revision ${state.revision}`,
    details: turn.details,
  };
}

function waitingText({ waiting, inProgress }: RolloutState, name: string): string {
  const order = waiting.get(name)?.order;
  const earlier = [...waiting].filter(([, other]) => compareOrder(other.order, order) < 0).length;
  return `${inProgress.size} are in progress, ${waiting.size} wait, ${earlier} of them before this one`;
}

function windowText({ shoot, rollout }: Ahead, now: Date): string | undefined {
  const { timeWindow } = shoot?.spec?.maintenance ?? {};
  if (timeWindow === undefined) return undefined;
  const seconds = secondsUntilWindow(timeWindow, now);
  const when = seconds === 0 ? 'is open' : `begins in ${durationText(seconds, now)}`;
  const why = rollout?.maintenanceWindow === true ? '; edits of flux-config wait for it' : '';
  return `the maintenance window (${timeWindow.begin} to ${timeWindow.end}) ${when}${why}`;
}

/** As `readiness` decides, from the Extension or from what its line in `flux-status` shows of it. */
function checkText({ line, extension }: Ahead, now: Date): string {
  const { lastOperation, conditions = [] } = extension?.status ?? {};
  if (line?.state === 'Hibernated') return 'Flux is checked when the Shoot wakes up';
  if (lastOperation !== undefined && lastOperation.state !== 'Succeeded') {
    return 'shoot-flux tries again, at the latest after 15m; Flux is checked when its objects are applied';
  }
  if (line === undefined) return 'Flux is checked when its objects are applied';
  const known = conditions.length > 0 ? conditions : [{ lastTransitionTime: line.since ?? '' }];
  const endedAt = Date.parse(lastOperation?.lastUpdateTime ?? line.since ?? '');
  const since = { now, ...(!Number.isNaN(endedAt) && { endedAt }) };
  const seconds = secondsUntilNextCheck(known as typeof conditions, line.state === 'Ready', false, since) ?? 0;
  return `the next check of Flux is within ${durationText(seconds, now)}`;
}

const durationText = (seconds: number, now: Date) => ageOf(new Date(now.getTime() - seconds * 1000).toISOString(), now);
