import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { EVERY_REPOSITORY, repositoryId, SHORTEST_TOKEN } from '../../shared/config/push.ts';
import { asString } from '../../shared/config/values.ts';
import type { PushCall } from '../../shared/runtime/webhook.ts';
import { parsedJson, textAt } from '../../shared/shapes.ts';

/** GitLab sends the token itself. */
const TOKEN = 'x-gitlab-token';

/** The others sign the body: GitHub, Gitea and Forgejo, anything else as Flux's Receiver `generic-hmac`, Bitbucket. */
const SIGNATURES = ['x-hub-signature-256', 'x-gitea-signature', 'x-signature', 'x-hub-signature'] as const;

/** Takes the place of a token that is not there, so that the time of the answer is the same. */
const NO_TOKEN = randomBytes(32).toString('hex');

/** Returns whether a call has something to check. */
export function hasCredentials({ headers }: PushCall): boolean {
  return [TOKEN, ...SIGNATURES].some((name) => asString(headers[name]));
}

/** Returns whether the caller knows the token of the project, in the same time for every project. @param token '' for none */
export function isAuthentic(token: string, { headers, body }: PushCall): boolean {
  const isUsable = token.length >= SHORTEST_TOKEN;
  const known = isUsable ? token : NO_TOKEN;
  const signature = asString(SIGNATURES.map((name) => headers[name]).find(Boolean)) ?? '';
  const expected = createHmac('sha256', known).update(body).digest('hex');
  const isSigned = isEqual(signature.replace(/^sha256=/, '').toLowerCase(), expected);
  const isToken = isEqual(asString(headers[TOKEN]) ?? '', known);
  return (isSigned || isToken) && isUsable;
}

/** Compares hashes, which are of equal length and say nothing about the text. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Where Git hosts name the repository, in `repository` or `project` of the payload. */
const ADDRESSES = ['clone_url', 'ssh_url', 'html_url', 'git_http_url', 'git_ssh_url', 'web_url'] as const;

/** Returns the ids of the repository under its addresses; all repositories where the call does not name it. */
export function repositoriesIn({ headers, body }: PushCall): string[] {
  const text = body.toString('utf8');
  // GitHub sends a form unless its webhook is set to JSON.
  const isForm = asString(headers['content-type'])?.startsWith('application/x-www-form-urlencoded');
  const payload = parsedJson((isForm && new URLSearchParams(text).get('payload')) || text);
  const urls = ['repository', 'project'].flatMap((part) => ADDRESSES.map((name) => textAt(payload, part, name)));
  const ids = urls.flatMap((url) => repositoryId(url ?? '') ?? []);
  return ids.length === 0 ? [EVERY_REPOSITORY] : [...new Set(ids)];
}
