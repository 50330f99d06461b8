import { randomBytes } from 'node:crypto';
import { fluxConfigObject, isPushOn, PUSH } from '../../shared/config/flux-config-map.ts';
import { FLUX_PUSH } from '../../shared/config/project-config.ts';
import { SHORTEST_TOKEN, tokenIn } from '../../shared/config/push.ts';
import { CreationRefusedError } from '../../shared/gardener/creation-refused.ts';
import { type Notice, normal, warning } from '../../shared/gardener/event.ts';
import { findSecret, type Run, writeSecret } from './project-objects.ts';

/** Ensures that a project that takes pushes has a token for its Git host, and says what to enter there. */
export async function pushNotices(run: Run): Promise<Notice[]> {
  const { namespace, configMap, context } = run;
  if (!isPushOn(configMap)) return [];
  const { pushUrl } = context.settings;
  if (pushUrl === undefined) {
    const remedy = `remove ${PUSH}, or ask them to set pushUrl`;
    const why = `the operators of this landscape have not switched it on; ${remedy}`;
    return [warning('PushNotTaken', `${fluxConfigObject(namespace)}: ${PUSH} has no effect, because ${why}.`)];
  }
  try {
    const problem = await ensureToken(run);
    if (problem !== undefined) return [warning('InvalidSecret', `Secret ${namespace}/${FLUX_PUSH}: ${problem}.`)];
  } catch (error) {
    if (error instanceof CreationRefusedError) return [warning('PushNotTaken', error.message)];
    throw error;
  }
  const settings = `URL ${pushUrl}/push/${namespace}, content type application/json, only push events`;
  const secret = `as its secret the value of token in Secret ${namespace}/${FLUX_PUSH}`;
  return [normal('PushWebhook', `Add a webhook to your repository at the Git host: ${settings}, and ${secret}.`)];
}

/** @returns what keeps the Secret from having a token that can be used, with the remedy */
async function ensureToken(run: Run): Promise<string | undefined> {
  const secret = await findSecret(run, FLUX_PUSH);
  const token = tokenIn(secret);
  if (token.length >= SHORTEST_TOKEN || secret?.metadata.deletionTimestamp !== undefined) return undefined;
  if (token !== '') return `token is shorter than ${SHORTEST_TOKEN} characters; remove it to have one generated`;
  if (secret?.immutable === true) return 'is immutable and has no token; recreate it without "immutable"';
  // A text, which people copy.
  const data = { token: randomBytes(32).toString('hex') };
  await writeSecret(run, secret, { data, annotations: {} }, FLUX_PUSH);
  return undefined;
}
