import { setTimeout as sleep } from 'node:timers/promises';
import { findStatusMap, type Line, linesOf, lineText } from '../../shared/gardener/status-map.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isBad, unseenOr } from './fleet.ts';

/** Lines of `flux-status` by the names of their Shoots. */
export type Lines = ReadonlyMap<string, Line>;

/** Reads the lines of a project. @throws UnseenError */
export async function readLines(garden: KubeClient, namespace: string): Promise<Lines> {
  const map = await findStatusMap(garden, namespace).catch((error: unknown) => {
    throw unseenOr(error, 'read ConfigMap flux-status', namespace);
  });
  return map === undefined ? new Map() : linesOf(map);
}

/** An edit reaches all Shoots of a large project within ten seconds, and an attempt of Flux takes seconds. */
const SETTLE_MS = 30_000;

const POLL_MS = 2_000;

const isGood = (line: Line | undefined) => line !== undefined && !isBad(line);

/**
 * Waits until all Shoots are Ready or hibernated. A line that was good before counts only after half a minute, because a
 * Shoot that stays Ready writes none.
 * @param read returns the lines of the Shoots that count, also of one that has none
 * @param note gets a sentence whenever the Shoots that are waited for have changed
 * @returns the Shoots that are not good when the time is up
 */
export async function followReady(
  read: () => Promise<ReadonlyMap<string, Line | undefined>>,
  before: Lines,
  { timeoutMs, note }: { timeoutMs: number; note(sentence: string): void },
): Promise<[string, Line | undefined][]> {
  const began = Date.now();
  let said = '';
  for (;;) {
    const lines = await read();
    const elapsed = Date.now() - began;
    const isOld = (name: string, line: Line | undefined) =>
      elapsed < SETTLE_MS && line !== undefined && textOf(line) === textOf(before.get(name));
    const bad = [...lines].filter(([, line]) => !isGood(line));
    const open = [...lines].filter(([name, line]) => !isGood(line) || isOld(name, line));
    if (open.length === 0 || elapsed >= timeoutMs) return bad;
    const names = open.slice(0, 3).map(([name]) => name);
    const more = open.length > names.length ? ` and ${open.length - names.length} more` : '';
    const sentence = `${lines.size - open.length} of ${lines.size} are Ready; waiting for ${names.join(', ')}${more}`;
    if (sentence !== said) note(sentence);
    said = sentence;
    await sleep(Math.min(POLL_MS, Math.max(1, timeoutMs - elapsed)));
  }
}

const textOf = (line: Line | undefined) => line && lineText(line, 1_000);
