import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

/** Measures how much longer a process takes that imports a module than one that imports nothing: the median in ms. */
export async function importMilliseconds(path: string, runs = 9): Promise<number> {
  const source = `import ${JSON.stringify(pathToFileURL(path).href)};`;
  const differences: number[] = [];
  // Alternate the two, so that other load on the machine affects both.
  for (let run = 0; run < runs; run++) differences.push(milliseconds(source) - milliseconds(''));
  return differences.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
}

function milliseconds(source: string): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The bundle cannot be imported: ${stderr}`);
  return performance.now() - started;
}
