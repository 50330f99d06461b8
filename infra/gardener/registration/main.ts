import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { fileProblem, ShootFluxError } from '../../../shared/errors.ts';
import { releaseOf } from './inputs.ts';
import { EXAMPLE, inlineRegistration, registrationFiles } from './registration.ts';

const USAGE = `Usage: npm run registration -- [--version X] [--registry R] [--values FILE] [--operator | --inline] [--out FILE]

Prints the objects that register the extension with Gardener.

  --version X    Version of image and charts. Default: ${EXAMPLE.version}
  --registry R   Registry of image and charts, for example registry.example.com/gardener
  --values FILE  Values of the chart for seeds, as for Helm
  --inline       Contain the chart, for landscapes without a registry of charts
  --operator     Print the Extension for gardener-operator instead
  --out FILE     Write a file instead
`;

/** Reads the command line; a wrong one ends the process with its usage. */
function options() {
  try {
    return parseArgs({
      options: {
        version: { type: 'string', default: EXAMPLE.version },
        registry: { type: 'string', default: EXAMPLE.registry },
        values: { type: 'string' },
        inline: { type: 'boolean', default: false },
        operator: { type: 'boolean', default: false },
        out: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const { operator, inline, out, help, ...inputs } = options();

async function text(): Promise<string> {
  if (help) return USAGE;
  if (operator && inline) {
    throw new ShootFluxError('--operator and --inline exclude each other: gardener-operator pulls the charts.');
  }
  const release = await releaseOf(inputs);
  if (inline) return inlineRegistration(release);
  const files = await registrationFiles(release);
  return files[operator ? 'operator-extension.yaml' : 'controller-registration.yaml'] ?? '';
}

async function write(file: string, content: string): Promise<void> {
  await writeFile(file, content).catch((error) => {
    throw new ShootFluxError(`cannot write ${file}: ${fileProblem(error, 'folder')}.`);
  });
}

try {
  if (out === undefined) process.stdout.write(await text());
  else await write(out, await text());
} catch (error) {
  if (!(error instanceof ShootFluxError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
