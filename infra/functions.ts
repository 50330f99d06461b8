import type { QueueFunction } from '../events/run.ts';
import { definition as admission } from '../functions/admission/function.ts';
import { definition as fanOut } from '../functions/fan-out/function.ts';
import { definition as keys } from '../functions/keys/function.ts';
import { definition as managedResources } from '../functions/managed-resources/function.ts';
import { definition as projectStatus } from '../functions/project-status/function.ts';
import { definition as push } from '../functions/push/function.ts';
import { definition as pushWebhook } from '../functions/push-webhook/function.ts';
import { definition as readiness } from '../functions/readiness/function.ts';
import { definition as resourceManagerWebhook } from '../functions/resource-manager-webhook/function.ts';
import { definition as syncMode } from '../functions/sync-mode/function.ts';
import type { FunctionBasics, FunctionDefinition } from '../shared/runtime/definition.ts';
import type { PushHandler, WebhookDefinition, WebhookHandler } from '../shared/runtime/webhook.ts';

/** The functions that take changes from a queue, sorted by name. Their code is imported where they run. */
const queued = [
  { definition: fanOut, code: () => import('../functions/fan-out/handler.ts') },
  { definition: keys, code: () => import('../functions/keys/handler.ts') },
  { definition: managedResources, code: () => import('../functions/managed-resources/handler.ts') },
  { definition: projectStatus, code: () => import('../functions/project-status/handler.ts') },
  { definition: push, code: () => import('../functions/push/handler.ts') },
  { definition: readiness, code: () => import('../functions/readiness/handler.ts') },
  { definition: syncMode, code: () => import('../functions/sync-mode/handler.ts') },
];

/** The functions that answer API servers. */
const webhooks = [
  { definition: admission, code: () => import('../functions/admission/handler.ts') },
  { definition: resourceManagerWebhook, code: () => import('../functions/resource-manager-webhook/handler.ts') },
];

/** The definition that a function's `function.ts` exports. */
export type AnyDefinition = FunctionDefinition | WebhookDefinition | FunctionBasics;

/** The function that answers Git hosts. */
export interface PushWebhook {
  definition: FunctionBasics;
  handler: PushHandler;
}

/** A webhook function: `definition` from its function.ts, `handler` from its handler.ts. */
export interface WebhookFunction {
  definition: WebhookDefinition;
  handler: WebhookHandler;
}

/** Returns whether a function takes changes from a queue. All others answer requests. */
export function isQueued(definition: AnyDefinition): definition is FunctionDefinition {
  return 'subscriptions' in definition;
}

/** Returns whether a function answers API servers. */
export function isWebhook(definition: AnyDefinition): definition is WebhookDefinition {
  return 'webhook' in definition;
}

/** Returns the definitions of all functions, sorted by name. */
export async function findAllDefinitions(): Promise<AnyDefinition[]> {
  const all: AnyDefinition[] = [...queued, ...webhooks].map(({ definition }) => definition);
  return [...all, pushWebhook].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the definitions of the functions that take changes from a queue. */
export async function findDefinitions(): Promise<FunctionDefinition[]> {
  return queued.map(({ definition }) => definition);
}

/** Returns the definitions of the webhook functions. */
export async function findWebhookDefinitions(): Promise<WebhookDefinition[]> {
  return webhooks.map(({ definition }) => definition);
}

/** Returns the functions that take changes from a queue, with their handlers: all, or those with one of these names. */
export async function findFunctions(names?: readonly string[]): Promise<QueueFunction[]> {
  const chosen = queued.filter(({ definition }) => names?.includes(definition.name) !== false);
  return Promise.all(chosen.map(async ({ definition, code }) => ({ definition, handler: (await code()).handler })));
}

/** The definition of the function that answers Git hosts. */
export const pushDefinition = pushWebhook;

/** Returns the function that answers Git hosts, with its handler. */
export async function findPushWebhook(): Promise<PushWebhook> {
  return { definition: pushWebhook, handler: (await import('../functions/push-webhook/handler.ts')).handler };
}

/** Returns the webhook functions, with their handlers. */
export async function findWebhooks(): Promise<WebhookFunction[]> {
  return Promise.all(webhooks.map(async ({ definition, code }) => ({ definition, handler: (await code()).handler })));
}
