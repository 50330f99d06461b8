import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findings, hasBrowser, isWide, launchBrowser, looks, openPage } from '../browser.ts';
import { documents, root } from './documents.ts';

const require = createRequire(import.meta.url);
const vitepress = dirname(require.resolve('vitepress/package.json'));
const GITHUB = { GITHUB_SERVER_URL: 'https://git.example.com', GITHUB_REPOSITORY: 'org/fleet', GITHUB_SHA: 'abc' };

// A build writes beside its configuration, where other tests read.
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'site-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const name of ['package.json', 'tsconfig.json', 'docs/tsconfig.json', 'docs/.vitepress']) await copy(name);
});
afterEach(() => rm(folder, { recursive: true }));

const copy = (name: string) => cp(join(root, name), join(folder, name), { recursive: true });
const write = async (name: string, text: string) => {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), text);
};
const page = (name: string) => readFile(join(folder, 'dist/site', name), 'utf8');

function build(env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  const args = [join(vitepress, 'bin/vitepress.js'), 'build', 'docs'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), output: out + err }),
    );
  });
}

/** Finds sections as the box on the site does. @returns their anchors, best first */
async function search(words: string): Promise<string[]> {
  const chunks = join(folder, 'dist/site/assets/chunks');
  const index = (await readdir(chunks)).find((name) => name.startsWith('@localSearchIndex')) ?? '';
  const { default: json } = await import(join(chunks, index));
  const { default: MiniSearch } = await import(createRequire(join(vitepress, 'package.json')).resolve('minisearch'));
  const options = { fields: ['title', 'titles', 'text'], searchOptions: { prefix: true } };
  return MiniSearch.loadJSON(json, options)
    .search(words)
    .map(({ id }: { id: string }) => id);
}

const pages = ['index', 'docs/when-something-is-wrong', 'docs/command', 'docs/configuration', 'CHANGELOG'];

/** Returns what a checker finds on some pages of the site, and whether a reader has to scroll sideways. */
async function look(): Promise<string[]> {
  const app = new Hono().use(serveStatic({ root: join(folder, 'dist/site') }));
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using browser = await launchBrowser();
  const found: string[] = [];
  // Both widths and both colours: how wide a page is does not change its colours.
  for (const [name, options] of [looks[0], looks[3]].filter((one) => one !== undefined)) {
    for (const path of pages) {
      await using opened = await openPage(browser, `http://127.0.0.1:${port}/${path}.html`, options);
      const { page, problems } = opened;
      const said = [...(await findings(page)), ...problems, ...((await isWide(page)) ? ['too wide'] : [])];
      found.push(...said.map((text) => `${path} ${name}: ${text}`));
    }
  }
  server.close();
  return found;
}

test('every page is on the site, its words are found, and links to code lead to the commit', async () => {
  for (const { path } of documents) await copy(path);
  for (const name of ['docs/images', 'test/landscape/README.md']) await copy(name);
  const { code, output } = await build(GITHUB);
  expect(code, output).toBe(0);
  for (const { path } of documents) {
    expect(await page(path.replace('README.md', 'index.md').replace(/md$/, 'html'))).toContain('</h1>');
  }
  expect(await page('CONTRIBUTING.html')).toContain('href="https://git.example.com/org/fleet/blob/abc/shared/ssh/');
  expect(await search('targetNamespace')).toContain('/docs/configuration.html#configmap-flux-config');
  expect(await search('deploy key')).toContain('/docs/configuration.html#private-repositories');
  if (hasBrowser) expect(await look()).toEqual([]);
});

test('a link to an anchor that no page has fails the build, and links to code are text where no address is known', async () => {
  await write(
    'README.md',
    '# Start\n\n[good](docs/other.md#its-part) [bad](docs/other.md#nothing) [code](infra/cli.ts)\n',
  );
  await write('docs/other.md', '# Other\n\n## Its `part`!\n');
  const { code, output } = await build({ GITHUB_REPOSITORY: '' });
  expect(code).toBe(1);
  expect(output).toContain('index.html: ./docs/other.html#nothing');
  expect(output).not.toContain('its-part');
  expect(await page('index.html')).toContain('<span>code</span>');
});
