import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { bundleCli } from './bundle-cli.ts';
import { type AnyDefinition, findAllDefinitions, isWebhook } from './functions.ts';
import { importMilliseconds } from './import-time.ts';
import { withoutDocs } from './without-docs.ts';
import { COMMON_JS, writeBundle } from './write-bundle.ts';

/** Folder of the bundles: `<folder>/<function>/index.mjs`, with its lazy chunks beside it. */
export const bundleFolder = fileURLToPath(new URL('../dist/functions', import.meta.url));

/** A function's bundle; sizes in KB of 1,000 bytes. */
export interface Bundle {
  name: string;
  /** Path of the entry. */
  entry: string;
  /** Size of the entry with its static imports. */
  entryKb: number;
  /** Size of the chunks that are imported on demand. */
  lazyKb: number;
}

/** Upper limits of a bundle's size, and of the time that its import takes longer than starting Node.js alone. */
export function limitsOf(definition: AnyDefinition): { kb: number; milliseconds: number } {
  return !isWebhook(definition) && definition.sends ? { kb: 550, milliseconds: 70 } : { kb: 250, milliseconds: 30 };
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** Bundles one function for Lambda. */
export async function bundleFunction(definition: AnyDefinition, folder = bundleFolder): Promise<Bundle> {
  const { name } = definition;
  const outdir = `${folder}/${name}`;
  await rm(outdir, { recursive: true, force: true });
  const result = await build({
    stdin: { contents: entrySource(definition), resolveDir: root, sourcefile: `${name}.ts`, loader: 'ts' },
    outdir,
    entryNames: 'index',
    chunkNames: 'chunks/[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // ES builds of dependencies allow tree shaking. Some packages have only a CommonJS `main`, which needs require() and
    // __dirname (ssh2).
    mainFields: ['module', 'main'],
    banner: { js: COMMON_JS },
    // Native add-ons are optional and only speed packages up. client-node (4 MB) serves only kubeconfigs that run
    // commands; a Lambda reads kubeconfigs from AWS secrets, where commands are refused.
    external: ['*.node', '@kubernetes/client-node'],
    plugins: [withoutDocs],
    metafile: true,
    write: false,
    logLevel: 'warning',
    absWorkingDir: root,
  });
  return measure(name, await writeBundle(result, root));
}

/** Bundles every function. */
export async function bundleAll(folder = bundleFolder): Promise<Bundle[]> {
  const bundles: Bundle[] = [];
  for (const definition of await findAllDefinitions()) bundles.push(await bundleFunction(definition, folder));
  return bundles;
}

function entrySource(definition: AnyDefinition): string {
  const { name } = definition;
  const [make, from] = isWebhook(definition) ? ['webhookHandler', 'webhook'] : ['lambdaHandler', 'lambda'];
  return `import { ${make} } from './infra/aws/${from}.ts';
import { definition } from './functions/${name}/function.ts';
import { handler as run } from './functions/${name}/handler.ts';
export const handler = ${make}({ definition, handler: run });`;
}

function measure(name: string, { outputs }: Metafile): Bundle {
  const entry = Object.keys(outputs).find((path) => path.endsWith('/index.mjs')) ?? '';
  const atOnce = new Set<string>();
  const visit = (path: string) => {
    const output = outputs[path];
    if (output === undefined || atOnce.has(path)) return;
    atOnce.add(path);
    for (const imported of output.imports) if (imported.kind === 'import-statement') visit(imported.path);
  };
  visit(entry);
  const kb = (isCounted: (path: string) => boolean) =>
    Object.entries(outputs).reduce((sum, [path, { bytes }]) => sum + (isCounted(path) ? bytes : 0), 0) / 1000;
  return {
    name,
    entry: `${root}${entry}`,
    entryKb: kb((path) => atOnce.has(path)),
    lazyKb: kb((path) => !atOnce.has(path)),
  };
}

async function main(): Promise<void> {
  const definitions = await findAllDefinitions();
  const rows: Record<string, string>[] = [];
  for (const definition of definitions) {
    const bundle = await bundleFunction(definition);
    const limits = limitsOf(definition);
    rows.push({
      function: bundle.name,
      'entry + static imports, KB': bundle.entryKb.toFixed(0),
      'at most, KB': String(limits.kb),
      'lazy chunks, KB': bundle.lazyKb.toFixed(0),
      'import over bare node, ms': (await importMilliseconds(bundle.entry)).toFixed(0),
      'at most, ms': String(limits.milliseconds),
    });
    if (bundle.entryKb > limits.kb) process.exitCode = 1;
  }
  console.table(rows);
  console.table(await cliRows());
}

async function cliRows(): Promise<Record<string, string>[]> {
  const { outputs } = await bundleCli();
  return Object.entries(outputs).map(([file, { bytes }]) => ({ file, KB: (bytes / 1000).toFixed(0) }));
}

if (import.meta.main) await main();
