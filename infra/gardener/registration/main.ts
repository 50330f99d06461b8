import { writeFile } from 'node:fs/promises';
import { fileProblem, ShootFluxError } from '../../../shared/errors.ts';
import { flag, makeCommand, text } from '../../make-command.ts';
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

const options = {
  version: { ...text, default: EXAMPLE.version },
  registry: { ...text, default: EXAMPLE.registry },
  ...{ values: text, inline: flag, operator: flag, out: text },
};

await makeCommand(
  USAGE,
  options,
  async ({ operator = false, inline = false, out, ...inputs }) => {
    if (operator && inline) {
      throw new ShootFluxError('--operator and --inline exclude each other: gardener-operator pulls the charts.');
    }
    const release = await releaseOf(inputs);
    const file = operator ? 'operator-extension.yaml' : 'controller-registration.yaml';
    const content = inline ? await inlineRegistration(release) : ((await registrationFiles(release))[file] ?? '');
    if (out === undefined) return content;
    await writeFile(out, content).catch((error) => {
      throw new ShootFluxError(`cannot write ${out}: ${fileProblem(error, 'folder')}.`);
    });
    return '';
  },
  2,
);
