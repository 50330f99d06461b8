import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { listen } from '../cluster/ports.ts';
import { buildTools } from '../tools/build.ts';
import { folderWith, runProgram } from '../tools/cache.ts';

/** A web site with a repository of charts below `/charts`; another path with a status answers with that status. */
export interface ChartSite extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  url: string;
}

/** @param files of its chart */
export async function startChartSite(files: Record<string, string>): Promise<ChartSite> {
  const { helm } = await buildTools(['helm']);
  const folder = await folderWith(files);
  const site = join(folder.path, 'charts');
  await runProgram(helm, ['package', folder.path, '--destination', site]);
  await runProgram(helm, ['repo', 'index', site]);
  const server = createServer(async (incoming, response) => {
    incoming.resume();
    const path = new URL(incoming.url ?? '/', 'http://site').pathname;
    const status = Number(/\/([2-5]\d\d)(?:\/|$)/.exec(path)?.[1] ?? 0);
    const file = status === 0 ? await readFile(join(folder.path, path)).catch(() => undefined) : undefined;
    response.writeHead(status || (file === undefined ? 404 : 200));
    response.end(file ?? '<html>A page.</html>');
  });
  const listening = await listen(server);
  return {
    url: `http://${listening.host}`,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
