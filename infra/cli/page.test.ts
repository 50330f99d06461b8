import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGarden } from '../fleet/testing.ts';
import { landscapeOf } from '../page/testing.ts';
import { shootFlux } from './testing.ts';

let garden: Awaited<ReturnType<typeof startGarden>>;
beforeAll(async () => {
  garden = await startGarden(landscapeOf(450));
});
afterAll(() => garden[Symbol.asyncDispose]());

const page = (who: 'member' | 'operator' | 'nobody', ...args: string[]) =>
  shootFlux(['page', '--garden', garden.people[who], ...args]);

describe('shoot-flux page', () => {
  it('serves until it is told to stop', async () => {
    const main = join(import.meta.dirname, 'shoot-flux.js');
    const child = spawn(process.execPath, [main, 'page', '--garden', garden.people.operator, '--port', '0']);
    const ended = once(child, 'exit');
    const [line] = (await once(createInterface(child.stderr), 'line')) as [string];
    const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(line)?.[0] ?? '';
    expect(await (await fetch(url)).text()).toContain('65 not Ready, 35 progressing of 450 Shoots');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('writes files, whose links lead to files', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'page-'));
    try {
      const { code, err } = await page('operator', '--out', dir);
      const names = await readdir(dir);
      expect(err).toBe(`${names.length} files are in ${dir}; open index.html\n`);
      expect(code).toBe(0);
      expect(names).toEqual(
        expect.arrayContaining(['index.html', 'index.page-3.html', 'project.p1.html', 'shoot.p1.s1.html']),
      );
      const pages = names.filter((name) => name.endsWith('.html'));
      const links = new Set<string>();
      for (const name of pages) {
        const text = await readFile(join(dir, name), 'utf8');
        expect(text).not.toContain('<script');
        for (const [, href = ''] of text.matchAll(/href="([^"#:]+)"/g)) links.add(decodeURIComponent(href));
      }
      expect(links.size).toBeGreaterThan(pages.length - 2);
      expect([...links].filter((link) => !names.includes(link))).toEqual([]);
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  it.each<['member' | 'nobody' | 'operator', string[], number, string]>([
    ['member', ['--port', '0'], 3, 'may not read ConfigMap flux-status in all projects; name one with --project'],
    ['nobody', ['--project', 'p1'], 3, 'may not read ConfigMap flux-status in namespace garden-p1; ask an owner'],
    ['operator', ['--host', '0.0.0.0'], 2, '--host 0.0.0.0 would show all that your credentials do to everybody'],
    ['operator', ['--groups-header', 'X-Groups'], 2, '--groups-header needs --user-header'],
    ['operator', ['--port', 'x'], 2, '--port'],
  ])('%s with %j ends with %i', async (who, args, expected, message) => {
    const { code, err } = await page(who, ...args);
    expect(err).toContain(message);
    expect(code).toBe(expected);
  });
});
