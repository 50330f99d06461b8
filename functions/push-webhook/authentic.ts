import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { SHORTEST_TOKEN } from '../../shared/config/push.ts';
import type { PushCall } from '../../shared/runtime/webhook.ts';

type Headers = PushCall['headers'];

/** GitLab sends the token itself. */
const TOKEN = 'x-gitlab-token';

/** The others sign the body: GitHub, Gitea and Forgejo, anything else as Flux's Receiver `generic-hmac`, Bitbucket. */
const SIGNATURES = ['x-hub-signature-256', 'x-gitea-signature', 'x-signature', 'x-hub-signature'] as const;

/** Takes the place of a token that is not there, so that the time of the answer is the same. */
const NO_TOKEN = randomBytes(32).toString('hex');

/** Returns whether a call has something to check. */
export function hasCredentials(headers: Headers): boolean {
  return [TOKEN, ...SIGNATURES].some((name) => textOf(headers[name]) !== '');
}

/** Returns whether the caller knows the token of the project, in the same time for every project. @param token '' for none */
export function isAuthentic(token: string, headers: Headers, body: Buffer): boolean {
  const isUsable = token.length >= SHORTEST_TOKEN;
  const known = isUsable ? token : NO_TOKEN;
  const signature = SIGNATURES.map((name) => textOf(headers[name])).find((text) => text !== '') ?? '';
  const expected = createHmac('sha256', known).update(body).digest('hex');
  const isSigned = isEqual(signature.replace(/^sha256=/, '').toLowerCase(), expected);
  const isToken = isEqual(textOf(headers[TOKEN]), known);
  return (isSigned || isToken) && isUsable;
}

/** Compares hashes, which are of equal length and say nothing about the text. */
function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function textOf(header: Headers[string]): string {
  return typeof header === 'string' ? header : '';
}
