import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/** The fields of a key's or a limit's documentation that only the generated pages show. */
const DOC = /\b(description|default|why|of):\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`)(?=,?\s)/g;

/** Returns the source of a schema without the texts that only the documentation shows. */
export function withoutDocTexts(source: string): string {
  return source.replace(DOC, "$1: ''");
}

/** Leaves the texts of docs/configuration.md out of the bundles of functions: they are a tenth of the code that reads it. */
export const withoutDocs: Plugin = {
  name: 'without-docs',
  setup(build) {
    build.onLoad({ filter: /[\\/]shared[\\/]config[\\/].*\.ts$/ }, async ({ path }) => ({
      contents: withoutDocTexts(await readFile(path, 'utf8')),
      loader: 'ts',
    }));
  },
};
