import { fromCopiedForm } from '../../shared/config/git-url.ts';
import {
  FLUX_CONFIG,
  FLUX_SOURCE,
  FORMER_FINGERPRINT,
  NEXT_LINE,
  PUBLIC_KEY,
  ROTATE_COMPLETE,
  ROTATE_START,
} from '../../shared/config/project-config.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { textAt } from '../../shared/shapes.ts';
import { gitHost } from '../../shared/ssh/git-hosts.ts';
import { fingerprint, parsePublicLine, publicLine } from '../../shared/ssh/public-key.ts';
import { annotateConfig } from '../fleet/act.ts';
import { orUnseen } from '../fleet/fleet.ts';
import { kubectl } from '../fleet/kubectl.ts';
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

/** The key pairs of a project's repository, without what is private in them. */
type Keys = Awaited<ReturnType<typeof readKeys>>;

/**
 * Reads the public keys of a project's repository: metadata of its Secret, so that no private key leaves the garden.
 * @throws UnseenError, or ShootFluxError where there are none
 */
async function readKeys(garden: KubeClient, namespace: string) {
  const read = Promise.all([
    garden.find(resources.secrets, { namespace, name: FLUX_SOURCE }, { metadataOnly: true }),
    garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG }),
  ]);
  const [secret, config] = await orUnseen(read, `read Secret ${FLUX_SOURCE} and ConfigMap ${FLUX_CONFIG}`, namespace);
  const { annotations = {} } = secret?.metadata ?? {};
  const current = shownKey(annotations[PUBLIC_KEY]);
  if (current === undefined) {
    const what = secret === undefined ? 'does not exist' : 'has no key pair that shoot-flux knows';
    const events = ['get', 'events', '--field-selector', `involvedObject.name=${FLUX_CONFIG}`];
    throw new ShootFluxError(
      `Secret ${namespace}/${FLUX_SOURCE} ${what}; set repositoryType to private and an ssh:// URL in ConfigMap ${FLUX_CONFIG}, ` +
        `and see its Events: ${kubectl(events, { namespace, flags: [] })}`,
    );
  }
  const written = textAt(config, 'data', 'repositoryUrl')?.trim() ?? '';
  const url = fromCopiedForm(written) ?? written;
  const repository = safeText(url) || 'the repository';
  const former = annotations[FORMER_FINGERPRINT];
  return {
    repository,
    /** Continues `Add this public key …`. */
    place: gitHost(url).at(repository, 'repositoryUrl'),
    current,
    /** What a rotation has prepared. */
    next: shownKey(annotations[NEXT_LINE]),
    /** `SHA256:…` of the key that the last rotation has replaced. */
    formerFingerprint: former && safeText(former, 100),
  };
}

/** Returns a public key as members give it to their Git host; undefined for what is none: members may write anything there. */
function shownKey(line = '') {
  const key = parsePublicLine(line);
  if (key === undefined) return undefined;
  const comment = safeText(line.trim().split(/\s+/).slice(2).join(' '), 200);
  return { publicKey: publicLine(key, comment || undefined), type: key.type, fingerprint: fingerprint(key) };
}

/** Requests a phase of the rotation. @throws ShootFluxError where another operation is requested */
async function requestRotation(
  garden: KubeClient,
  namespace: string,
  operation: typeof ROTATE_START | typeof ROTATE_COMPLETE,
): Promise<void> {
  await annotateConfig(garden, namespace, ({ metadata }) => {
    const live = metadata.annotations?.[OPERATION_ANNOTATION];
    if (live === undefined || live === operation) return { [OPERATION_ANNOTATION]: operation };
    throw new ShootFluxError(
      `ConfigMap ${namespace}/${FLUX_CONFIG} already has the annotation ${OPERATION_ANNOTATION}=${safeText(live, 60)}; ` +
        'run the command again when shoot-flux has removed it',
    );
  });
}
