import { secondsUntilNextCheck } from '../../../functions/readiness/next-check.ts';
import { secondsUntilWindow } from '../../../shared/gardener/maintenance-window.ts';
import { compareOrder, isPaused, rolloutIn, rolloutText, stateAt } from '../../../shared/gardener/rollout.ts';
import { readyShootsOf, shootsOf } from '../../../shared/gardener/status-map.ts';
import type { Extension } from '../../../shared/gardener/types.ts';
import { kubectl } from '../kubectl.ts';
import { durationText } from '../print.ts';
import type { Subject } from './configuration.ts';
import type { Report } from './link.ts';
import type { Garden } from './read.ts';

type Ahead = Pick<Garden, 'shoot' | 'line' | 'statusMap' | 'rollout'> & { extension: Extension | undefined };

/** Explains what comes next and when: the Shoot's turn in a rollout, the next check of Flux, the maintenance window. */
export function explainNext(ahead: Ahead, subject: Subject, now: Date): Report {
  const { text: turn, details = [], ...verdict } = turnOf(ahead, subject, now) ?? {};
  const texts = [turn, checkText(ahead, now), windowText(ahead, now)].filter((one) => one !== undefined);
  return { mark: 'ok', ...verdict, text: texts[0] ?? '', details: [...details, ...texts.slice(1)] };
}

/** Returns the place of the Shoot in a rollout of its project; undefined where there is none. */
function turnOf({ statusMap, rollout }: Ahead, subject: Subject, now: Date): Partial<Report> | undefined {
  const live = rolloutIn(statusMap);
  if (live === undefined || statusMap === undefined) return undefined;
  const state = stateAt(live, now.getTime() / 1000, readyShootsOf(statusMap));
  const shoots = shootsOf(statusMap).size;
  const sentence = rolloutText(state, shoots);
  const command = kubectl(['get', 'configmap', 'flux-status', '-o', 'jsonpath={.data.Rollout}'], subject);
  const link = { sentence, command, details: [`Rollout: ${sentence}`] };
  const { waiting, inProgress, failed, revision } = state;
  const own = waiting.get(subject.name);
  if (own !== undefined) {
    const earlier = [...waiting.values()].filter(({ order }) => compareOrder(order, own.order) < 0).length;
    const isStopped = isPaused(state, shoots);
    const why = isStopped
      ? 'it is paused'
      : `${inProgress.size} in progress, ${earlier} of ${waiting.size} waiting before this one`;
    const window = rollout?.maintenanceWindow === true ? ' and its maintenance window' : '';
    const text = `waits for its turn${window} in the rollout of revision ${revision}: ${why}`;
    return { ...link, mark: isStopped ? 'broken' : 'attention', text };
  }
  if (inProgress.has(subject.name)) return { ...link, mark: 'attention', text: `gets revision ${revision} now` };
  if (failed.has(subject.name)) return { ...link, mark: 'attention', text: `has failed with revision ${revision}` };
  return { details: link.details };
}

/** As `readiness` decides, from the Extension, or from what the line in `flux-status` shows of it. */
function checkText({ line, extension }: Ahead, now: Date): string {
  const { lastOperation, conditions = [] } = extension?.status ?? {};
  if (line?.state === 'Hibernated') return 'Flux is checked when the Shoot wakes up';
  const isOver = lastOperation === undefined ? line !== undefined : lastOperation.state === 'Succeeded';
  if (!isOver) return 'Flux is checked when its objects are applied; what fails is tried again within 15m';
  const known =
    conditions.length > 0 ? conditions : [{ lastTransitionTime: line?.since ?? '' } as (typeof conditions)[0]];
  const isReady = line === undefined ? known.every(({ status }) => status === 'True') : line.state === 'Ready';
  const endedAt = Date.parse(lastOperation?.lastUpdateTime ?? line?.since ?? '') || 0;
  const seconds = secondsUntilNextCheck(known, isReady, false, { now, endedAt }) ?? 0;
  return `the next check of Flux is within ${durationText(seconds)}`;
}

function windowText({ shoot, rollout }: Ahead, now: Date): string | undefined {
  const { timeWindow } = shoot?.spec?.maintenance ?? {};
  if (timeWindow === undefined) return undefined;
  const seconds = secondsUntilWindow(timeWindow, now);
  const when = seconds === 0 ? 'is open' : `begins in ${durationText(seconds)}`;
  const why = rollout?.maintenanceWindow === true ? '; edits of flux-config wait for it' : '';
  return `the maintenance window (${timeWindow.begin} to ${timeWindow.end}) ${when}${why}`;
}
