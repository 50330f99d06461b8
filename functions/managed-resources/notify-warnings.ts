import { notifyShoot } from './notify-shoot.ts';
import type { Run } from './run.ts';

/**
 * Reports what the configuration says in vain as Events of the Shoot, once for each warning that the last applied
 * configuration did not have. Called before the record of the warnings: a run that is killed in between writes the same
 * Events again.
 */
export async function notifyWarnings(
  run: Run,
  warnings: readonly string[],
  known: readonly string[] = [],
): Promise<void> {
  for (const warning of warnings) {
    if (known.includes(warning)) continue;
    await notifyShoot(run, { type: 'Warning', reason: 'ConfigurationWarning', message: `${warning}.` });
  }
}
