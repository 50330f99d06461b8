import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { listen } from '../cluster/ports.ts';
import { buildTools } from '../tools/build.ts';

const run = promisify(execFile);

/** A web site with a repository of charts below `/charts`; another path with a status answers with that status. */
export interface ChartSite extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  url: string;
}

/** @param charts the files of each chart */
export async function startChartSite(charts: Record<string, string>[]): Promise<ChartSite> {
  const { helm } = await buildTools(['helm']);
  const folder = await mkdtemp(join(tmpdir(), 'charts-'));
  const site = join(folder, 'charts');
  await mkdir(site);
  for (const [index, files] of charts.entries()) {
    const source = join(folder, String(index));
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(source, path)), { recursive: true });
      await writeFile(join(source, path), content);
    }
    await run(helm, ['package', source, '--destination', site]);
  }
  await run(helm, ['repo', 'index', site]);
  const server = createServer(async (incoming, response) => {
    incoming.resume();
    const path = new URL(incoming.url ?? '/', 'http://site').pathname;
    const status = Number(/\/([2-5]\d\d)(?:\/|$)/.exec(path)?.[1] ?? 0);
    const file = status === 0 ? await readFile(join(folder, path)).catch(() => undefined) : undefined;
    response.writeHead(status || (file === undefined ? 404 : 200));
    response.end(file ?? '<html>A page.</html>');
  });
  const listening = await listen(server);
  return {
    url: `http://${listening.host}`,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
