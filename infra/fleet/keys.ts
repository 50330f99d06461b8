import { fromCopiedForm } from '../../shared/config/git-url.ts';
import {
  FLUX_CONFIG,
  FLUX_SOURCE,
  FORMER_FINGERPRINT,
  NEXT_LINE,
  PUBLIC_KEY,
  type ROTATE_COMPLETE,
  type ROTATE_START,
} from '../../shared/config/project-config.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import { OPERATION_ANNOTATION } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resources } from '../../shared/kube/resource.ts';
import { safeText } from '../../shared/runtime/safe-text.ts';
import { textAt } from '../../shared/shapes.ts';
import { gitHost } from '../../shared/ssh/git-hosts.ts';
import { fingerprint, parsePublicLine, publicLine } from '../../shared/ssh/public-key.ts';
import { annotateConfig } from './act.ts';
import { orUnseen } from './fleet.ts';
import { kubectl } from './kubectl.ts';

/** The key pairs of a project's repository, without what is private in them. */
export type Keys = Awaited<ReturnType<typeof readKeys>>;

/**
 * Reads the public keys of a project's repository: metadata of its Secret, so that no private key leaves the garden.
 * @throws UnseenError, or ShootFluxError where there are none
 */
export async function readKeys(garden: KubeClient, namespace: string) {
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
export async function requestRotation(
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
