import { parseArgs } from 'node:util';
import { untilSignal } from '../../infra/process/signals.ts';
import { errorMessage } from '../../shared/errors.ts';
import { createCrowd } from './crowd.ts';
import { type Demo, runDemo, temporaryFolder } from './demo.ts';
import { createOutput } from './output.ts';

const help = `Shows shoot-flux end to end: two Shoots deploy a private repository and follow a commit to it.

npm run demo -- [--keep] [--shoots N [--faults]] [--flux-distribution DIR]

  --keep                   keep everything running afterwards, with kubeconfigs for kubectl; stop it with Ctrl-C
  --shoots N               then add N more Shoots that only the garden has, to try the commands on a large landscape
  --faults                 a tenth of them is not Ready, for one of twenty reasons
  --flux-distribution DIR  folder with one folder per Flux release; default: the releases in the test data
                           (npm run test:data) if they exist, else the small release of the test landscape
`;

const write = (text: string) => void process.stdout.write(text);
const ended = Promise.race([untilSignal().first, untilOutputCloses()]);
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
    missing.length === 0
      ? '\nDone: both Shoots run the latest commit.\n'
      : `\nMissing:\n${missing.map((text) => `  - ${text}\n`).join('')}`,
  );
  const shoots = Number(options.shoots);
  if (shoots > 0) {
    const projects = createCrowd(demo.garden, shoots, options.faults);
    write(`\nAdded ${shoots} Shoots in ${projects} projects.\n`);
  }
  if (options.keep) await keep(demo);
  await demo.stop();
  return missing.length === 0 ? 0 : 1;
}

async function start(fluxDistribution: string | undefined): Promise<Demo | undefined> {
  try {
    return await runDemo({ fluxDistribution, ended, output: createOutput(write, process.stdout.isTTY === true) });
  } catch (error) {
    process.stderr.write(`The demo could not start: ${errorMessage(error)}\n`);
    return undefined;
  }
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        shoots: { type: 'string', default: '0' },
        faults: { type: 'boolean', default: false },
        'flux-distribution': { type: 'string' },
      },
    });
    if (!/^\d{1,5}$/.test(values.shoots)) throw new Error('--shoots is not a number up to 99999');
    return values;
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n\n${help}`);
    return undefined;
  }
}

/** Resolves when the reader of the output ends, as in `npm run demo | head`. */
function untilOutputCloses(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  process.stdout.on('error', () => resolve('the closed output'));
  return promise;
}

async function keep(demo: Demo): Promise<void> {
  const folder = await temporaryFolder();
  const kubeconfigs = await demo.writeKubeconfigs(folder.path);
  write('\nEverything keeps running. Look around with kubectl; stop it with Ctrl-C:\n');
  for (const [name, path] of Object.entries(kubeconfigs)) write(`  ${name.padEnd(22)} kubectl --kubeconfig ${path}\n`);
  const all = `--kubeconfig ${kubeconfigs.garden} --all-namespaces`;
  write(`\nThe state of Flux in all Shoots:\n  npm run --silent shoot-flux -- status ${all}\n`);
  await ended;
  await folder.remove();
}
