import { globSync, readFileSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { plugins } from '../cli/command.ts';

/** Folder of the bundle: `shoot-flux.mjs` starts every command. */
const cliFolder = fileURLToPath(new URL('../../dist/cli', import.meta.url));

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Loaded only for kubeconfigs with `exec` or `auth-provider`: as large as all the rest. */
const CLIENT_NODE = '@kubernetes/client-node';

/** What all bundles have in common. */
const common = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  // ES builds of dependencies allow tree shaking. Some packages have only a CommonJS `main`, which needs require() and
  // __dirname (ssh2).
  mainFields: ['module', 'main'],
  // Native add-ons are optional and only speed packages up.
  external: ['*.node'],
  logLevel: 'warning',
  absWorkingDir: root,
} as const satisfies BuildOptions;

/** What bundles of commands and of Lambdas have in common: ES modules that share chunks, without any package. */
export const modules = {
  ...common,
  splitting: true,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url),__dirname=import.meta.dirname;",
  },
  metafile: true,
} as const satisfies BuildOptions;

/** Bundles all commands into one folder without any other file or package. @returns what each file was made of */
export async function bundleCli(folder = cliFolder): Promise<Metafile> {
  await rm(folder, { recursive: true, force: true });
  const programs = [
    join(root, 'infra/bundle/shoot-flux.js'),
    // The programs of threads.
    ...globSync('{events,functions,infra,shared}/**/*-thread.ts', { cwd: root }).map((file) => join(root, file)),
  ];
  const { metafile } = await build({
    ...modules,
    entryPoints: Object.fromEntries(programs.map((file) => [basename(file).replace(/\.[jt]s$/, ''), file])),
    outdir: folder,
    // Names stay, so that stack traces can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    legalComments: 'none',
    plugins: [bundledThreads, reduced, withAssets],
  });
  await chmod(join(folder, 'shoot-flux.mjs'), 0o755);
  return metafile;
}

/** The package of npm for people: one file, `shoot-flux`, without what only an installation runs. */
const commandFolder = fileURLToPath(new URL('../../dist/command', import.meta.url));

/**
 * Bundles the commands for people into a package of npm with one file that needs nothing but Node.js. It has no suffix,
 * as kubectl and flux want it for plugins. CommonJS loads the parts of Node.js when they are used; a module would load
 * all of them at each start, which takes twice as long.
 * @param version default: that of the checkout
 */
export async function bundleCommand(folder = commandFolder, version?: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const own = JSON.parse(await readFile(manifestFile, 'utf8'));
  const { name, description, license, engines } = own;
  const manifest = { name, version: version ?? own.version, description, license, engines };
  const bin = Object.fromEntries(['shoot-flux', ...Object.keys(plugins)].map((program) => [program, 'shoot-flux']));
  const file = join(folder, 'shoot-flux');
  await build({
    ...oneFile,
    banner: { js: "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'importMetaUrl', 'import.meta.dirname': '__dirname', 'import.meta.main': 'false' },
    entryPoints: [join(root, 'infra/bundle/shoot-flux.js')],
    outfile: file,
    plugins: [withoutServices, packed, withAssets, withManifest(manifest)],
  });
  await chmod(file, 0o755);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, bin }, null, 2)}\n`);
}

const manifestFile = join(root, 'package.json');

const oneFile = {
  ...common,
  ...{ format: 'cjs', minify: true, lineLimit: 200, legalComments: 'none' },
} as const satisfies BuildOptions;

/** Returns a plugin that changes the text of files. */
function changing(filter: RegExp, changed: (text: string, path: string) => string): Plugin {
  return {
    name: `changing ${filter}`,
    setup: ({ onLoad }) =>
      onLoad({ filter }, async ({ path }) => ({
        contents: changed(await readFile(path, 'utf8'), path),
        loader: 'default',
      })),
  };
}

/** A thread finds its code by the path, which has another ending in a bundle. */
const bundledThreads = changing(/\/threaded-[^/]+\.ts$/, (code) =>
  code.replace(/(new URL\('\.\/[\w-]+-thread)\.ts'/, "$1.mjs'"),
);

/** Puts the text of files into the code that reads them beside itself. */
const withAssets = changing(/\/infra\/page\/assets\.ts$/, (code, path) =>
  code.replace(/readFileSync\(new URL\('(.+?)', import\.meta\.url\), 'utf8'\)/g, (_, name) =>
    JSON.stringify(readFileSync(join(dirname(path), name), 'utf8')),
  ),
);

const withManifest = (manifest: object) =>
  changing(/\/package\.json$/, (text, path) => (path === manifestFile ? JSON.stringify(manifest) : text));

/** Services belong to the image. */
const withoutServices = changing(
  /\/infra\/cli\/(run|serve|watch|webhooks)\.ts$/,
  (_, path) => `import { elsewhere } from './command.ts'; export default elsewhere('${basename(path, '.ts')}');`,
);

const KUBE_CONFIG = `export { KubeConfig } from '${CLIENT_NODE}';`;

/** Returns a plugin that puts code in place of the package for kubeconfigs; the code itself may import the package. */
function instead(contents: () => Promise<string>): Plugin {
  return {
    name: 'instead of client-node',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^${CLIENT_NODE}$`) }, ({ namespace }) =>
        namespace === 'file' ? { path: 'client-node', namespace: 'instead' } : undefined,
      );
      onLoad({ filter: /./, namespace: 'instead' }, async () => ({ contents: await contents(), resolveDir: root }));
    },
  };
}

/** The package is imported dynamically, so esbuild would keep all of it: 6 MB for one class. */
const reduced = instead(async () => KUBE_CONFIG);

/** Packs what only kubeconfigs with a plugin need: as text, it would be parsed at each start, for longer than all the rest. */
const packed = instead(async () => {
  const stdin = { contents: KUBE_CONFIG, resolveDir: root };
  const { outputFiles } = await build({ ...oneFile, stdin, write: false });
  const text = brotliCompressSync(outputFiles[0]?.contents ?? '').toString('base64');
  return `import { compileFunction } from 'node:vm';
import { brotliDecompressSync } from 'node:zlib';
const module = { exports: {} };
const code = brotliDecompressSync(Buffer.from('${text}', 'base64')).toString();
compileFunction(code, ['module', 'exports', 'require'])(module, module.exports, require);
export const { KubeConfig } = module.exports;`;
});
