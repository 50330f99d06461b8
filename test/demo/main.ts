import { parseArgs } from 'node:util';
import { untilSignal } from '../../infra/process/signals.ts';
import { errorMessage } from '../../shared/errors.ts';
import { type Demo, runDemo, temporaryFolder } from './demo.ts';
import { createOutput } from './output.ts';

const help = `Shows the main job end to end: a private repository comes up in two Shoots, and a commit arrives in both.

npm run demo -- [--keep] [--flux-distribution DIR]

  --keep                   leave everything running afterwards, with kubeconfigs for kubectl; ends with Ctrl-C
  --flux-distribution DIR  folder with one folder per Flux release; default the releases of the test data
                           (npm run test:data) if they exist, else the small one of the test landscape
`;

const write = (text: string) => void process.stdout.write(text);
const ended = Promise.race([untilSignal(), untilNobodyReads()]);
process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (options === undefined) return 2;
  if (options.help) {
    write(help);
    return 0;
  }
  const demo = await start(options['flux-distribution']);
  if (demo === undefined) return 1;
  const { missing } = demo;
  write(
    missing.length === 0 ? '\nAll of it is there.\n' : `\nMissing:\n${missing.map((text) => `  - ${text}\n`).join('')}`,
  );
  if (options.keep) await keep(demo);
  await demo.stop();
  return missing.length === 0 ? 0 : 1;
}

async function start(fluxDistribution: string | undefined): Promise<Demo | undefined> {
  try {
    return await runDemo({ fluxDistribution, ended, output: createOutput(write, process.stdout.isTTY === true) });
  } catch (error) {
    process.stderr.write(`The demo cannot start: ${errorMessage(error)}\n`);
    return undefined;
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        'flux-distribution': { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n\n${help}`);
    return undefined;
  }
}

/** As behind `| head`. */
function untilNobodyReads(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  process.stdout.on('error', () => resolve('its reader'));
  return promise;
}

async function keep(demo: Demo): Promise<void> {
  const folder = await temporaryFolder();
  const kubeconfigs = await demo.writeKubeconfigs(folder.path);
  write('\nEverything goes on running; look around with kubectl, end with Ctrl-C:\n');
  for (const [name, path] of Object.entries(kubeconfigs)) write(`  ${name.padEnd(22)} kubectl --kubeconfig ${path}\n`);
  await ended;
  await folder.remove();
}
