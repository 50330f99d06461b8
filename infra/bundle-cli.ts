import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { functionFolders } from './function-folders.ts';
import { functionsFolder } from './functions.ts';

/** Folder of the bundle: `shoot-flux.mjs` starts every command. */
export const cliFolder = fileURLToPath(new URL('../dist/cli', import.meta.url));

const root = fileURLToPath(new URL('..', import.meta.url));

/** Loaded only for kubeconfigs with `exec` or `auth-provider`: as large as all the rest. */
const CLIENT_NODE = '@kubernetes/client-node';

const common: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  // Names stay, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 200,
  legalComments: 'none',
  // ES builds of dependencies allow tree shaking.
  mainFields: ['module', 'main'],
  // Native add-ons are optional and only speed packages up.
  external: ['*.node'],
  metafile: true,
  logLevel: 'warning',
  absWorkingDir: root,
};

/** The code in CommonJS: only that can be compiled beforehand for every uid (`bundled/load.ts`). */
const program: BuildOptions = {
  ...common,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  define: { 'import.meta.url': 'importMetaUrl', 'import.meta.dirname': '__dirname' },
  // Strict like the modules that it is made of.
  banner: { js: "'use strict';const importMetaUrl=require('node:url').pathToFileURL(__filename).href;" },
  // As `require`, because code that was compiled beforehand has no loader of modules.
  supported: { 'dynamic-import': false },
};

/** The small files that start the code. */
const entry: BuildOptions = { ...common, format: 'esm', outExtension: { '.js': '.mjs' } };

/**
 * Bundles all commands into one folder without any other file or package.
 * @returns what each file was made of
 */
export async function bundleCli(folder = cliFolder): Promise<Metafile> {
  await rm(folder, { recursive: true, force: true });
  const threads = await threadFiles();
  const built = await Promise.all([
    build({ ...entry, entryPoints: { 'shoot-flux': join(root, 'infra/bundled/shoot-flux.js') }, outdir: folder }),
    ...threads.map((file) => bundleThread(file, folder)),
    bundleProgram('main', join(root, 'infra/cli/main.ts'), folder),
    ...['fill-compile-cache', 'list-packages'].map((name) =>
      bundleProgram(name, join(root, `infra/bundled/${name}.ts`), folder),
    ),
    build({
      ...program,
      stdin: { contents: `export { KubeConfig } from '${CLIENT_NODE}';`, resolveDir: root },
      outfile: join(folder, 'client-node.cjs'),
    }),
  ]);
  await chmod(join(folder, 'shoot-flux.mjs'), 0o755);
  return merge(built.map(({ metafile }) => metafile as Metafile));
}

async function bundleProgram(name: string, file: string, folder: string) {
  return build({ ...program, entryPoints: { [name]: file }, outdir: folder, plugins: [withoutFolders] });
}

/** A thread starts with a file of its own, like the process. */
async function bundleThread(file: string, folder: string) {
  const name = basename(file, '.ts');
  const contents = threadEntry(name);
  const { metafile } = await build({
    ...entry,
    stdin: { contents, resolveDir: root },
    outfile: `${folder}/${name}.mjs`,
  });
  const code = await bundleProgram(name, file, folder);
  return { metafile: merge([metafile as Metafile, code.metafile as Metafile]) };
}

/** Starts outside of a thread only while its compile cache is filled, with the flags of V8 that it will have. */
function threadEntry(name: string): string {
  return `import { isMainThread } from 'node:worker_threads';
import { load } from './infra/bundled/load.ts';
import { prepareProcess } from './infra/cli/prepare.js';
if (isMainThread) prepareProcess('run');
load('${name}');`;
}

/** Returns the programs of threads: every `*-thread.ts`. */
async function threadFiles(): Promise<string[]> {
  const rooms = ['events', 'functions', 'infra', 'shared'].map(async (room) =>
    (await readdir(join(root, room), { recursive: true })).map((file) => join(root, room, file)),
  );
  return (await Promise.all(rooms)).flat().filter((file) => file.endsWith('-thread.ts'));
}

/** Replaces what works only from sources: folders that are searched, and files that are found by their path. */
const withoutFolders: Plugin = {
  name: 'without folders',
  setup({ onLoad, onResolve }) {
    const resolveDir = join(root, 'infra');
    onLoad({ filter: /\/infra\/function-folders\.ts$/ }, async () => ({ contents: await functionList(), resolveDir }));
    onLoad({ filter: /\/infra\/compile-cache\.ts$/ }, () => ({ contents: 'export const useCompileCache = () => {};' }));
    onLoad({ filter: /\/threaded-[^/]+\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/(new URL\('\.\/[\w-]+-thread)\.ts'/, "$1.mjs'"),
      loader: 'ts',
    }));
    onResolve({ filter: new RegExp(`^${CLIENT_NODE}$`) }, () => ({ path: './client-node.cjs', external: true }));
  },
};

/** The module that lists the functions. */
async function functionList(): Promise<string> {
  const folders = await functionFolders(functionsFolder);
  const modules = folders.map(({ name }) => {
    const from = (file: string) => `() => import('../functions/${name}/${file}.ts')`;
    return `{ name: '${name}', definition: ${from('function')}, handler: ${from('handler')} }`;
  });
  return `export const functionFolders = async () => [${modules.join(',\n')}];`;
}

function merge(metafiles: Metafile[]): Metafile {
  return {
    inputs: Object.assign({}, ...metafiles.map(({ inputs }) => inputs)),
    outputs: Object.assign({}, ...metafiles.map(({ outputs }) => outputs)),
  };
}
