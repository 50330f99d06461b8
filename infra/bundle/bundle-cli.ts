import { readFileSync } from 'node:fs';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
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

/** What bundles of commands and of Lambdas have in common: ES modules that share chunks, without any package. */
export const modules = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  outExtension: { '.js': '.mjs' },
  // ES builds of dependencies allow tree shaking. Some packages have only a CommonJS `main`, which needs require() and
  // __dirname (ssh2).
  mainFields: ['module', 'main'],
  banner: {
    js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url),__dirname=import.meta.dirname;",
  },
  // Native add-ons are optional and only speed packages up.
  external: ['*.node'],
  metafile: true,
  logLevel: 'warning',
  absWorkingDir: root,
} as const satisfies BuildOptions;

/** Bundles all commands into one folder without any other file or package. @returns what each file was made of */
export async function bundleCli(folder = cliFolder): Promise<Metafile> {
  await rm(folder, { recursive: true, force: true });
  const programs = [
    join(root, 'infra/bundle/shoot-flux.js'),
    join(root, 'infra/bundle/list-packages.ts'),
    ...(await threadFiles()),
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
    plugins: [fromSources, withAssets],
  });
  await chmod(join(folder, 'shoot-flux.mjs'), 0o755);
  return metafile;
}

/** The package of npm for people: one file, `shoot-flux`, without what only an installation runs. */
const commandFolder = fileURLToPath(new URL('../../dist/command', import.meta.url));

/**
 * Bundles the commands for people into a package of npm with one file that needs nothing but Node.js. It has no suffix, as kubectl and flux
 * want it for plugins. CommonJS loads the parts of Node.js when they are used; a module would load all of them at each
 * start, which takes twice as long.
 * @param version default: that of the checkout
 */
export async function bundleCommand(folder = commandFolder, version?: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const own = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const manifest = {
    ...pick(own, ['name', 'version', 'description', 'license', 'engines']),
    ...(version && { version }),
  };
  const bin = Object.fromEntries(['shoot-flux', ...Object.keys(plugins)].map((name) => [name, 'shoot-flux']));
  const file = join(folder, 'shoot-flux');
  await build({
    ...oneFile,
    format: 'cjs',
    banner: { js: "const importMetaUrl=require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': 'importMetaUrl', 'import.meta.dirname': '__dirname', 'import.meta.main': 'false' },
    entryPoints: [join(root, 'infra/bundle/shoot-flux.js')],
    outfile: file,
    plugins: [withoutServices, packed, withAssets, withManifest(manifest)],
  });
  await chmod(file, 0o755);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, bin }, null, 2)}\n`);
}

const pick = (from: Record<string, unknown>, fields: string[]) =>
  Object.fromEntries(fields.map((field) => [field, from[field]]));

const { bundle, platform, target, mainFields, external, logLevel, absWorkingDir } = modules;
const oneFile = {
  ...{ bundle, platform, target, mainFields, external, logLevel, absWorkingDir },
  ...{ minify: true, lineLimit: 200, legalComments: 'none' },
} as const satisfies BuildOptions;

/** Packs what only kubeconfigs with a plugin need: as text, it would be parsed at each start, for longer than all the rest. */
const packed: Plugin = {
  name: 'packed',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: new RegExp(`^${CLIENT_NODE}$`) }, () => ({ path: 'client-node', namespace: 'packed' }));
    onLoad({ filter: /./, namespace: 'packed' }, async () => {
      const contents = `export { KubeConfig } from '${CLIENT_NODE}';`;
      const stdin = { contents, resolveDir: root };
      const { outputFiles } = await build({ ...oneFile, format: 'cjs', stdin, write: false });
      const text = brotliCompressSync(outputFiles[0]?.contents ?? '').toString('base64');
      return {
        contents: `import { compileFunction } from 'node:vm';
import { brotliDecompressSync } from 'node:zlib';
const module = { exports: {} };
const code = brotliDecompressSync(Buffer.from('${text}', 'base64')).toString();
compileFunction(code, ['module', 'exports', 'require'])(module, module.exports, require);
export const { KubeConfig } = module.exports;`,
      };
    });
  },
};

/** Puts the text of files into the code that reads them beside itself. */
const withAssets: Plugin = {
  name: 'with assets',
  setup({ onLoad }) {
    onLoad({ filter: /\/infra\/page\/assets\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      const reads = /readFileSync\(new URL\('(.+?)', import\.meta\.url\), 'utf8'\)/g;
      return {
        contents: code.replace(reads, (_, name) => JSON.stringify(readFileSync(join(dirname(path), name), 'utf8'))),
        loader: 'ts',
      };
    });
  },
};

const withManifest = (manifest: object): Plugin => ({
  name: 'with manifest',
  setup({ onLoad }) {
    onLoad({ filter: /\/package\.json$/ }, ({ path }) =>
      path === join(root, 'package.json') ? { contents: JSON.stringify(manifest), loader: 'json' } : undefined,
    );
  },
});

/** Services belong to the image. */
const withoutServices: Plugin = {
  name: 'without services',
  setup({ onLoad }) {
    onLoad({ filter: /\/infra\/cli\/(run|serve|watch|webhooks)\.ts$/ }, ({ path }) => ({
      contents: `import { elsewhere } from './command.ts'; export default elsewhere('${basename(path, '.ts')}');`,
      loader: 'ts',
      resolveDir: dirname(path),
    }));
  },
};

/** Returns the programs of threads: every `*-thread.ts`. */
async function threadFiles(): Promise<string[]> {
  const rooms = ['events', 'functions', 'infra', 'shared'].map(async (room) =>
    (await readdir(join(root, room), { recursive: true })).map((file) => join(root, room, file)),
  );
  return (await Promise.all(rooms)).flat().filter((file) => file.endsWith('-thread.ts'));
}

/** Replaces what works only from sources: files that are found by their path, and packages that do not shrink. */
const fromSources: Plugin = {
  name: 'from sources',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\/threaded-[^/]+\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(/(new URL\('\.\/[\w-]+-thread)\.ts'/, "$1.mjs'"),
      loader: 'ts',
    }));
    // Imported dynamically, so esbuild would keep all of it: 6 MB for one class.
    onResolve({ filter: new RegExp(`^${CLIENT_NODE}$`) }, ({ namespace }) =>
      namespace === 'file' ? { path: 'client-node', namespace: 'reduced' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'reduced' }, () => ({
      contents: `export { KubeConfig } from '${CLIENT_NODE}';`,
      resolveDir: root,
    }));
  },
};
