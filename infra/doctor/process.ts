import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { entriesAt, textAt } from '../../shared/shapes.ts';
import { bad, examined, type Finding, good, type Item, unknown } from './finding.ts';

/** Reads the port of a running process. */
export const examineProcess = (url: string): Promise<Item[]> =>
  examined('process', { ready, queue, 'dead letters': deadLetters }, url.replace(/\/+$/, ''));

const ANSWER_MS = 5000;
const MOST_BYTES = 32 * 1024 * 1024;

/**
 * @param mark in what we answer there; another program may listen
 * @throws ShootFluxError where we do not answer
 */
async function read(url: string, mark: RegExp): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MOST_BYTES) throw new Error('the answer is too long');
    }
    if (mark.test(text)) return text;
    throw new Error(response.ok ? 'this is not the port of shoot-flux' : `status ${response.status}`);
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new ShootFluxError(`${url} does not answer as it should: ${errorMessage(cause)}`);
  }
}

async function ready(base: string): Promise<Finding | Finding[]> {
  const lines = (await read(`${base}/readyz`, /^(ok|down|not ready) |^\n?$/)).split('\n');
  const wrong = lines.filter((line) => /^(down|not ready) /.test(line));
  if (wrong.length === 0) return good('The process follows all its clusters');
  return wrong
    .slice(0, 20)
    .map((line) => bad(`The process is not ready: ${safeText(line, 300)}`, `curl ${base}/readyz`));
}

/** As the alert of the chart (infra/gardener/monitoring). */
const OLD_SECONDS = 120;

async function queue(base: string): Promise<Finding[]> {
  const metrics = await read(`${base}/metrics`, /^shoot_flux_/m);
  const keys = sums(metrics, 'queue_keys', 'state');
  // Each bucket counts what is in the ones before it, too; the last one, of any age, counts all.
  const waited = [...sums(metrics, 'queue_age_seconds_bucket', 'le')];
  const runs = waited.at(-1)?.[1] ?? 0;
  const [most = '0'] = waited.find(([, count]) => count >= 0.9 * runs) ?? [];
  const isLast = most === '+Inf';
  const age = isLast ? 'more than 5 min' : `at most ${most} s`;
  const text = runs === 0 ? 'No change had its run yet' : `9 of 10 changes waited ${age} for their run`;
  const now = `${text}; ${keys.get('waiting') ?? 0} wait now`;
  const parked = keys.get('parked') ?? 0;
  const down = `${parked} changes are parked, because their cluster does not answer`;
  return [
    isLast || Number(most) > OLD_SECONDS ? bad(now, `curl ${base}/metrics`) : good(now),
    ...(parked > 0 ? [unknown(down, `curl ${base}/readyz`)] : []),
  ];
}

/** Adds up a metric in the text format of Prometheus, by the values of one of its labels. */
function sums(text: string, name: string, label: string): Map<string, number> {
  const sums = new Map<string, number>();
  const samples = new RegExp(`^shoot_flux_${name}\\{(?:.*,)?${label}="([^"]*)".*\\} (\\S+)$`, 'gm');
  for (const [, value = '', count] of text.matchAll(samples)) sums.set(value, (sums.get(value) ?? 0) + Number(count));
  return sums;
}

async function deadLetters(base: string): Promise<Finding> {
  const content: unknown = JSON.parse(await read(`${base}/dead-letters`, /^{\n {2}"deadLetters": /));
  const [first, ...rest] = entriesAt(content, 'deadLetters');
  if (first === undefined) return good('No change was given up');
  const key = ['cluster', 'namespace', 'name'].map((part) => textAt(first, 'key', part)).join('/');
  const count = rest.length === 0 ? '1 change was' : `${rest.length + 1} changes were`;
  const which = `The oldest, from ${textAt(first, 'since')}: ${textAt(first, 'function')} for ${key}`;
  const reason = safeText(textAt(first, 'reason') ?? '', 300);
  return bad(`${count} given up. ${which}: ${reason}`, `curl ${base}/dead-letters`);
}
