import { ROTATE_COMPLETE, ROTATE_START } from '../../shared/config/project-config.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { type Keys, readKeys, requestRotation } from '../fleet/keys.ts';
import { outputOption, printed } from '../fleet/print.ts';
import { openTarget, targetOptions } from '../fleet/target.ts';
import { columns, command, exitCodes } from './command.ts';
import { UsageError } from './option.ts';

export default command({
  name: 'keys',
  summary: "Show the public key of a project's private repository, or rotate the key pair.",
  positionals: 'show|rotate',
  options: {
    ...targetOptions,
    complete: { type: 'boolean', description: 'Of rotate: the second key is in its place, replace the first one.' },
    ...outputOption,
  },
  notes: 'Private keys are neither read nor shown.',
  async run(values, [verb, ...others], terminal) {
    if ((verb !== 'show' && verb !== 'rotate') || others.length > 0) throw new UsageError('say "show" or "rotate"');
    if (verb === 'show' && values.complete) throw new UsageError('--complete belongs to "rotate"');
    using target = await openTarget(values, terminal.environment);
    const { garden, namespace = '' } = target;
    const keys = await readKeys(garden, namespace);
    const again = (words: string) => target.repeat(`keys ${words}`);
    if (verb === 'show') {
      if (!printed(values.output ?? 'table', 'Keys', keys, terminal)) terminal.out(shown(keys, again));
      return exitCodes.success;
    }
    if (values.complete) {
      if (keys.next === undefined)
        throw new ShootFluxError(`no second key pair is prepared; prepare one with: ${again('rotate')}`);
      await requestRotation(garden, namespace, ROTATE_COMPLETE);
      terminal.out(
        `Key ${keys.next.fingerprint} replaces ${keys.current.fingerprint} within a minute. ` +
          'Remove the old key from the host once Flux has fetched with the new one in every Shoot.\n',
      );
    } else if (keys.next === undefined) {
      await requestRotation(garden, namespace, ROTATE_START);
      terminal.out(
        'A second key pair is being prepared; Flux continues with the first one. ' +
          `Next: ${again('show')} prints the second public key as soon as it is there.\n`,
      );
    } else terminal.out(nextStep(keys, again));
    return exitCodes.success;
  },
});

function shown(keys: Keys, again: (words: string) => string): string {
  const { repository, place, current, next, formerFingerprint } = keys;
  const rows = [
    ['Repository', repository],
    ['Public key', current.publicKey],
    ['Type', current.type],
    ['Fingerprint', current.fingerprint],
    ['Replaced', formerFingerprint],
    ['Next key', next?.publicKey],
    ['Next type', next?.type],
    ['Next fingerprint', next?.fingerprint],
  ].filter((row): row is string[] => row[1] !== undefined);
  const end = next === undefined ? `Add the public key ${place}.\n` : nextStep(keys, again);
  return `${columns(rows).join('\n')}\n\n${end}`;
}

const nextStep = ({ place, next }: Keys, again: (words: string) => string) =>
  `A second key pair is prepared. Next: add its public key ${place} (${next?.fingerprint}), then run: ${again('rotate --complete')}\n`;
