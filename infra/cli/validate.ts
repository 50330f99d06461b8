import { ConfigError, issueText } from '../../shared/errors.ts';
import { command, exitCodes } from './command.ts';
import { inputNotes, inputOptions, readInputs } from './inputs.ts';
import { renderOffline } from './offline.ts';

export default command({
  name: 'validate',
  summary: 'Check a configuration: print nothing, or one line for each issue.',
  options: { ...inputOptions, json: { type: 'boolean', description: 'Print the issues as a JSON list.' } },
  notes: inputNotes,
  async run(values, _, terminal) {
    try {
      await renderOffline(await readInputs(values, terminal));
      if (values.json) terminal.out('[]\n');
      return exitCodes.success;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const lines = error.issues.map((issue) => `${issueText(issue)}\n`);
      terminal.out(values.json ? `${JSON.stringify(error.issues, null, 2)}\n` : lines.join(''));
      return exitCodes.failure;
    }
  },
});
