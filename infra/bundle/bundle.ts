import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { DELAY, delayDefinition } from '../../events/sqs/queues.ts';
import { type AnyDefinition, findAllDefinitions, isQueued, isWebhook } from '../functions.ts';
import { bundleCli, bundleCommand, modules } from './bundle-cli.ts';

/** Folder of the bundles: `<folder>/<function>/index.mjs`, with its chunks beside it. */
export const bundleFolder = fileURLToPath(new URL('../../dist/functions', import.meta.url));

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Bundles one function for Lambda. */
export async function bundleFunction(
  definition: AnyDefinition,
  folder = bundleFolder,
): Promise<{ name: string; kb: number }> {
  const { name } = definition;
  const outdir = `${folder}/${name}`;
  await rm(outdir, { recursive: true, force: true });
  const { metafile } = await build({
    ...modules,
    stdin: { contents: entrySource(definition), resolveDir: root, sourcefile: `${name}.ts`, loader: 'ts' },
    outdir,
    entryNames: 'index',
    chunkNames: 'chunks/[name]-[hash]',
    minify: true,
    // client-node (4 MB) serves only kubeconfigs that run commands; a Lambda reads kubeconfigs from AWS secrets, where
    // commands are refused.
    external: [...modules.external, '@kubernetes/client-node'],
  });
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  return { name, kb: bytes / 1000 };
}

/** Returns the definitions of all Lambdas, sorted by name: the functions, and what serves the delay queue of SQS. */
export async function lambdaDefinitions(): Promise<AnyDefinition[]> {
  return [...(await findAllDefinitions()), delayDefinition].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Bundles every Lambda. */
export async function bundleAll(folder = bundleFolder) {
  const bundles: { name: string; kb: number }[] = [];
  for (const definition of await lambdaDefinitions()) bundles.push(await bundleFunction(definition, folder));
  return bundles;
}

function entrySource(definition: AnyDefinition): string {
  const { name } = definition;
  if (name === DELAY)
    return "import { delayHandler } from './infra/aws/lambda.ts'; export const handler = delayHandler();";
  const ofWebhook = isWebhook(definition) ? 'webhookHandler' : 'pushHandler';
  const [make, from] = isQueued(definition) ? ['lambdaHandler', 'lambda'] : [ofWebhook, 'webhook'];
  return `import { ${make} } from './infra/aws/${from}.ts';
import { definition } from './functions/${name}/function.ts';
import { handler as run } from './functions/${name}/handler.ts';
export const handler = ${make}({ definition, handler: run });`;
}

async function main(): Promise<void> {
  console.table((await bundleAll()).map(({ name, kb }) => ({ function: name, KB: kb.toFixed(0) })));
  await bundleCommand();
  const { outputs } = await bundleCli();
  console.table(Object.entries(outputs).map(([file, { bytes }]) => ({ file, KB: (bytes / 1000).toFixed(0) })));
}

if (import.meta.main) await main();
