import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

/** How long importing a module takes in a new process, over a process that imports nothing: median of several, in ms. */
export async function importMilliseconds(path: string, runs = 9): Promise<number> {
  const source = `import ${JSON.stringify(pathToFileURL(path).href)};`;
  const differences: number[] = [];
  // In turns, so that whatever else the machine does meets both.
  for (let run = 0; run < runs; run++) differences.push(milliseconds(source) - milliseconds(''));
  return differences.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
}

function milliseconds(source: string): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`A bundle cannot be imported: ${stderr}`);
  return performance.now() - started;
}
