import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { TerminalError } from '../shared/errors.ts';
import { type Cause, type ChangeRequest, causeSchemas, nameSchema } from '../shared/runtime/change-request.ts';
import { parsedJson } from '../shared/shapes.ts';

/** A change on the wire: a request with a version. Some kilobytes at most, and never an object. */
export type Change = { v: 1 } & ChangeRequest;

const keySchema = z.strictObject({ cluster: nameSchema, namespace: nameSchema, name: nameSchema });

/** What this version knows of a change on the wire. Drops what a newer minor version has added (`parseChange`). */
const changeSchema = z.object({
  v: z.literal(1),
  function: z.string().check(z.regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)),
  key: keySchema,
  cause: z.discriminatedUnion('type', causeSchemas),
});

/** Every field that this version writes. */
const fields = [changeSchema, keySchema, ...causeSchemas].flatMap(({ shape }) => Object.keys(shape));

/** Returns the body of a message. It has only fields of the schema, so that nothing else can travel along. */
export function encodeChange(request: ChangeRequest): string {
  const { function: target, key, cause } = request;
  return JSON.stringify({ v: 1, function: target, key, cause } satisfies Change, fields);
}

/**
 * Returns the change in a message's body, without the flags, counts and names that a newer minor version may have added.
 * @throws TerminalError that names the wrong fields, never their content: the sender is unknown
 */
export function parseChange(body: string): Change {
  const sent = json(body);
  const { data, error } = z.safeParse(changeSchema, sent);
  if (error !== undefined) throw wrong(error.issues.map(({ path, code }) => `${path.join('.') || 'body'} (${code})`));
  if (!areAdditions(sent, data)) throw wrong(['body (unrecognized_keys)']);
  if (!areAdditions((sent as Change).cause, data.cause)) throw wrong(['cause (unrecognized_keys)']);
  return data;
}

function wrong(issues: string[]): TerminalError {
  return new TerminalError(
    `The message is not a change of version 1: ${issues.join(', ')}; drop it, or send it again in that form.`,
  );
}

/** Returns an id of a change's function and key. */
export function keyId({ function: target, key }: Pick<ChangeRequest, 'function' | 'key'>): string {
  return hash('sha256', JSON.stringify([target, key.cluster, key.namespace, key.name]));
}

/**
 * Returns an id that is equal for two sends of the same change and different for any other change of the same key, so
 * that a transport that drops repetitions drops no other change.
 */
export function changeId({ function: target, key, cause }: ChangeRequest): string {
  return hash('sha256', JSON.stringify([target, key.cluster, key.namespace, key.name, ...identity(cause)]));
}

function identity(cause: Cause): unknown[] {
  switch (cause.type) {
    case 'object':
      return [cause.type, cause.kind, cause.uid, cause.resourceVersion, cause.deleted === true, cause.also];
    // Retries with more and with fewer attempts differ, or the fresher one could be dropped.
    case 'notBefore':
      return [cause.type, cause.notBefore, cause.attempt];
    case 'continue':
      return [cause.type, cause.state, cause.after, cause.token, cause.hop, cause.again === true, cause.notBefore];
    case 'resync':
      return [cause.type, cause.epoch];
    case 'redrive':
      return [cause.type, cause.nonce];
  }
}

/** No change is longer; parsing a message of 256 KB would block the process for a tenth of a second. */
const LONGEST_BODY = 16_384;

function json(body: string): unknown {
  if (body.length > LONGEST_BODY) {
    throw new TerminalError(`The message has more than ${LONGEST_BODY} characters and is not a change; drop it.`);
  }
  const value = parsedJson(body);
  if (value !== undefined) return value;
  throw new TerminalError('The message is not JSON; drop it, or send it again as a change of version 1.');
}

/**
 * What a newer minor version may add to a change: flags, counts, times, and short names in lower case. Objects, lists,
 * keys, certificates and tokens are none of these, and free text is not either.
 */
const addition = z.union([
  z.boolean(),
  z.int().check(z.nonnegative()),
  z.iso.datetime(),
  z.string().check(z.regex(/^[a-z0-9]([-.a-z0-9]{0,62}[a-z0-9])?$/)),
]);

/** More are no change of ours, which has about ten fields. */
const MOST = 8;

/** True if everything that `sent` has and `known` has not may be dropped: a version that does not know it works without it. */
function areAdditions(sent: unknown, known: object): boolean {
  const added = Object.entries(sent as object).filter(([name]) => !Object.hasOwn(known, name));
  return added.length <= MOST && added.every(([, value]) => z.safeParse(addition, value).success);
}
