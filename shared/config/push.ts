import { hash } from 'node:crypto';
import type { KubeObject } from '../kube/resource.ts';
import { textAt } from '../shapes.ts';
import { fromScpForm } from './git-url.ts';

/** What Git hosts have reported to a project: from when on its sources fetch, and which. */
export interface PushRequest {
  /** Milliseconds of the epoch; up to `INTERVAL_MS` ahead. */
  at: number;
  /** As of `repositoryId`, or only `EVERY_REPOSITORY`. */
  repositories: readonly string[];
}

/** Stands for all repositories: the Git host has not said which, or there are too many. */
export const EVERY_REPOSITORY = '*';

/** A shorter token of a Git host is as good as none. */
export const SHORTEST_TOKEN = 16;

/** Returns the token in Secret `flux-push`; empty where there is none. */
export function tokenIn(secret: KubeObject | undefined): string {
  const encoded = textAt(secret, 'data', 'token') ?? '';
  return Buffer.from(encoded, 'base64').toString('utf8').trim();
}

/** The sources of a project fetch at most once in this time, however many pushes there are. */
const INTERVAL_MS = 5_000;

/** Older requests are over: what an outage has kept from being told, Flux fetches at its interval. */
const RECENT_MS = 120_000;

/** A change carries so many in its 253 characters. */
const MOST = 8;

const FORMAT = /^(\S{20,30}) (\*|[\w-]{12}(?:,[\w-]{12}){0,7})$/;

/** Reads the annotation `PUSHED`; undefined where it has none that is recent, or one that we have not written. */
export function pushRequestOf(annotation: string | undefined, now: number): PushRequest | undefined {
  const [, time = '', repositories = ''] = FORMAT.exec(annotation ?? '') ?? [];
  const at = Date.parse(time);
  return at > now - RECENT_MS && at <= now + INTERVAL_MS ? { at, repositories: repositories.split(',') } : undefined;
}

/** Returns the annotation for a request. */
export function pushAnnotation({ at, repositories }: PushRequest): string {
  return `${new Date(at).toISOString()} ${repositories.join(',')}`;
}

/**
 * Adds a push to what is requested. What was requested lately stays: it may not have reached every process yet.
 * @returns undefined when the request that waits includes it
 */
export function withPush(former: PushRequest | undefined, pushed: string[], now: number): PushRequest | undefined {
  const all = [...new Set([...(former?.repositories ?? []), ...pushed])].sort();
  const repositories = all.length > MOST || all.includes(EVERY_REPOSITORY) ? [EVERY_REPOSITORY] : all;
  if (former === undefined || former.at <= now) {
    return { at: Math.max(now, (former?.at ?? 0) + INTERVAL_MS), repositories };
  }
  return repositories.length === former.repositories.length ? undefined : { at: former.at, repositories };
}

/** Returns an identity of the repository at a URL, the same for all its addresses; undefined for what is no URL. */
export function repositoryId(url: string): string | undefined {
  const parsed = URL.parse(fromScpForm(url) ?? url);
  if (parsed === null) return undefined;
  // Bitbucket Server puts /scm before the path, over HTTP only.
  const path = parsed.pathname.replace(/^\/scm\//, '/').replace(/(\.git)?\/*$/, '');
  return hash('sha256', `${parsed.hostname}${path}`.toLowerCase(), 'base64url').slice(0, 12);
}
