import { notifyShoot } from './notify-shoot.ts';
import type { Run } from './run.ts';

/**
 * Reports what the configuration says in vain as one Event of the Shoot, with each warning that the last applied
 * configuration did not have: one request, however many there are. Called before the record of the warnings: a run that
 * is killed in between writes the same Event again.
 */
export async function notifyWarnings(
  run: Run,
  warnings: readonly string[],
  known: readonly string[] = [],
): Promise<void> {
  const added = warnings.filter((warning) => !known.includes(warning));
  if (added.length === 0) return;
  const message = added.map((warning) => `${warning}.`).join(' ');
  await notifyShoot(run, { type: 'Warning', reason: 'ConfigurationWarning', message });
}
