import { access, readdir } from 'node:fs/promises';
import type { QueueFunction } from '../events/run/runner.ts';
import { ShootFluxError } from '../shared/errors.ts';
import type { FunctionDefinition } from '../shared/runtime/definition.ts';
import type { WebhookDefinition, WebhookHandler } from '../shared/runtime/webhook.ts';

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
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const definitions = await Promise.all(names.sort().map((name) => definitionIn(folder, name)));
  return definitions.filter((definition) => definition !== undefined);
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
  const definitions = await findDefinitions(folder);
  return Promise.all(
    definitions.map(
      async (definition) => ({ definition, handler: await handlerOf(definition, folder) }) as QueueFunction,
    ),
  );
}

/** Finds the webhook functions, with their handlers. */
export async function findWebhooks(folder = functionsFolder): Promise<WebhookFunction[]> {
  const definitions = await findWebhookDefinitions(folder);
  return Promise.all(
    definitions.map(async (definition) => ({
      definition,
      handler: (await handlerOf(definition, folder)) as WebhookHandler,
    })),
  );
}

async function handlerOf({ name }: AnyDefinition, folder: URL): Promise<unknown> {
  const { handler } = await import(new URL(`${name}/handler.ts`, folder).href);
  if (typeof handler === 'function') return handler;
  throw wrong(name, 'handler.ts', 'handler', 'the code of the function');
}

async function definitionIn(folder: URL, name: string): Promise<AnyDefinition | undefined> {
  const file = new URL(`${name}/function.ts`, folder);
  if (!(await exists(file))) return undefined;
  const { definition } = await import(file.href);
  if (definition?.name === name) return definition;
  throw wrong(name, 'function.ts', 'definition', `a FunctionDefinition or WebhookDefinition whose name is ${name}`);
}

function wrong(name: string, file: string, what: string, expected: string): ShootFluxError {
  return new ShootFluxError(`functions/${name}/${file} must export ${what}: ${expected}.`);
}

async function exists(file: URL): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
