import type { QueueFunction } from '../events/run/runner.ts';
import { ShootFluxError } from '../shared/errors.ts';
import type { FunctionDefinition } from '../shared/runtime/definition.ts';
import type { WebhookDefinition, WebhookHandler } from '../shared/runtime/webhook.ts';
import { type FunctionFolder, functionFolders } from './function-folders.ts';

/** The folder that holds one folder per function. */
export const functionsFolder = new URL('../functions/', import.meta.url);

/** The definition that a function's `function.ts` exports. */
export type AnyDefinition = FunctionDefinition | WebhookDefinition;

/** A webhook function: `definition` from its function.ts, `handler` from its handler.ts. */
export interface WebhookFunction {
  definition: WebhookDefinition;
  handler: WebhookHandler;
}

/** Returns whether a function answers API servers. All others take changes from a queue. */
export function isWebhook(definition: AnyDefinition): definition is WebhookDefinition {
  return 'webhook' in definition;
}

function isQueued(definition: AnyDefinition): definition is FunctionDefinition {
  return !isWebhook(definition);
}

/**
 * Finds the definitions of all functions, sorted by name: every folder of `functions/` with a `function.ts`. No other
 * list of functions exists.
 */
export async function findAllDefinitions(folder = functionsFolder): Promise<AnyDefinition[]> {
  return Promise.all((await functionFolders(folder)).map(definitionIn));
}

/** Finds the definitions of the functions that take changes from a queue. */
export async function findDefinitions(folder = functionsFolder): Promise<FunctionDefinition[]> {
  return (await findAllDefinitions(folder)).filter(isQueued);
}

/** Finds the definitions of the webhook functions. */
export async function findWebhookDefinitions(folder = functionsFolder): Promise<WebhookDefinition[]> {
  return (await findAllDefinitions(folder)).filter(isWebhook);
}

/** Finds the functions that take changes from a queue, with their handlers. */
export async function findFunctions(folder = functionsFolder): Promise<QueueFunction[]> {
  return (await withHandlers(await functionFolders(folder), isQueued)) as QueueFunction[];
}

/** Finds those functions that take changes from a queue and have one of these names; loads no other code. */
export async function findNamedFunctions(names: readonly string[], folder = functionsFolder): Promise<QueueFunction[]> {
  const named = (await functionFolders(folder)).filter(({ name }) => names.includes(name));
  return (await withHandlers(named, isQueued)) as QueueFunction[];
}

/** Finds the webhook functions, with their handlers. */
export async function findWebhooks(folder = functionsFolder): Promise<WebhookFunction[]> {
  return (await withHandlers(await functionFolders(folder), isWebhook)) as WebhookFunction[];
}

/** Imports the handlers of the chosen functions only. */
async function withHandlers(folders: FunctionFolder[], isChosen: (definition: AnyDefinition) => boolean) {
  const found = await Promise.all(folders.map(async (module) => ({ module, definition: await definitionIn(module) })));
  const chosen = found.filter(({ definition }) => isChosen(definition));
  return Promise.all(chosen.map(async ({ module, definition }) => ({ definition, handler: await handlerIn(module) })));
}

async function handlerIn({ name, handler: load }: FunctionFolder): Promise<unknown> {
  const { handler } = await load();
  if (typeof handler === 'function') return handler;
  throw wrong(name, 'handler.ts', 'handler', 'the code of the function');
}

async function definitionIn({ name, definition: load }: FunctionFolder): Promise<AnyDefinition> {
  const { definition } = (await load()) as { definition?: AnyDefinition };
  if (definition?.name === name) return definition;
  throw wrong(name, 'function.ts', 'definition', `a FunctionDefinition or WebhookDefinition whose name is ${name}`);
}

function wrong(name: string, file: string, what: string, expected: string): ShootFluxError {
  return new ShootFluxError(`functions/${name}/${file} must export ${what}: ${expected}.`);
}
