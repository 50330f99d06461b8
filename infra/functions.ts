import { access, readdir } from 'node:fs/promises';
import type { QueueFunction } from '../events/sqs/lambda.ts';
import type { FunctionDefinition } from '../shared/runtime/definition.ts';
import { ShootFluxError } from '../shared/runtime/errors.ts';

/** The folder that holds one folder per function. */
export const functionsFolder = new URL('../functions/', import.meta.url);

/**
 * The definitions of all functions, by name: every folder of `functions/` with a `function.ts`. Nothing else lists
 * functions.
 */
export async function findDefinitions(folder = functionsFolder): Promise<FunctionDefinition[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const definitions = await Promise.all(names.sort().map((name) => definitionIn(folder, name)));
  return definitions.filter((definition) => definition !== undefined);
}

/** The definitions with their handlers. */
export async function findFunctions(folder = functionsFolder): Promise<QueueFunction[]> {
  const definitions = await findDefinitions(folder);
  return Promise.all(
    definitions.map(async (definition) => {
      const { handler } = await import(new URL(`${definition.name}/handler.ts`, folder).href);
      if (typeof handler === 'function') return { definition, handler } as QueueFunction;
      throw wrong(definition.name, 'handler.ts', 'handler', 'the Handler of the function');
    }),
  );
}

async function definitionIn(folder: URL, name: string): Promise<FunctionDefinition | undefined> {
  const file = new URL(`${name}/function.ts`, folder);
  if (!(await exists(file))) return undefined;
  const { definition } = await import(file.href);
  if (definition?.name === name) return definition;
  throw wrong(name, 'function.ts', 'definition', `a FunctionDefinition whose name is ${name}`);
}

function wrong(name: string, file: string, what: string, expected: string): ShootFluxError {
  return new ShootFluxError(`functions/${name}/${file} has to export ${what}: ${expected}.`);
}

async function exists(file: URL): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
