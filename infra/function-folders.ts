import { access, readdir } from 'node:fs/promises';

/** A folder of `functions/`; its modules are imported when they are needed. */
export interface FunctionFolder {
  name: string;
  /** Imports `function.ts`. */
  definition(): Promise<{ definition?: unknown }>;
  /** Imports `handler.ts`. */
  handler(): Promise<{ handler?: unknown }>;
}

/**
 * Finds every folder with a `function.ts`, sorted by name. A bundle has no folders: `bundle-cli.ts` puts the list that
 * this returns into its place.
 */
export async function functionFolders(folder: URL): Promise<FunctionFolder[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const found = await Promise.all(names.map(async (name) => ((await isFunction(folder, name)) ? [name] : [])));
  return found
    .flat()
    .sort()
    .map((name) => ({
      name,
      definition: () => import(new URL(`${name}/function.ts`, folder).href),
      handler: () => import(new URL(`${name}/handler.ts`, folder).href),
    }));
}

async function isFunction(folder: URL, name: string): Promise<boolean> {
  return access(new URL(`${name}/function.ts`, folder)).then(
    () => true,
    () => false,
  );
}
