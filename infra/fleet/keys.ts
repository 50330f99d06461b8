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
import { unseenOr } from './fleet.ts';

/** A public key as members give it to their Git host. */
export interface ShownKey {
  /** `type base64 comment`. */
  publicKey: string;
  type: string;
  /** `SHA256:…` */
  fingerprint: string;
}

/** The key pairs of a project's repository, without what is private in them. */
export interface Keys {
  repository: string;
  /** Continues `Add this public key …`. */
  place: string;
  current: ShownKey;
  /** What a rotation has prepared. */
  next?: ShownKey | undefined;
  /** `SHA256:…` of the key that the last rotation has replaced. */
  formerFingerprint?: string | undefined;
}

/**
 * Reads the public keys of a project's repository: metadata of its Secret, so that no private key leaves the garden.
 * @throws UnseenError, or ShootFluxError where there are none
 */
export async function readKeys(garden: KubeClient, namespace: string): Promise<Keys> {
  const [secret, config] = await Promise.all([
    garden.find(resources.secrets, { namespace, name: FLUX_SOURCE }, { metadataOnly: true }),
    garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG }),
  ]).catch((error: unknown) => {
    throw unseenOr(error, `read Secret ${FLUX_SOURCE} and ConfigMap ${FLUX_CONFIG}`, namespace);
  });
  const { annotations = {} } = secret?.metadata ?? {};
  const current = shownKey(annotations[PUBLIC_KEY]);
  if (current === undefined) {
    const what = secret === undefined ? 'does not exist' : 'has no key pair that shoot-flux knows';
    throw new ShootFluxError(
      `Secret ${namespace}/${FLUX_SOURCE} ${what}; set repositoryType to private and an ssh:// URL in ConfigMap ${FLUX_CONFIG}, ` +
        `and see its Events: kubectl -n ${namespace} get events --field-selector involvedObject.name=${FLUX_CONFIG}`,
    );
  }
  const written = textAt(config, 'data', 'repositoryUrl')?.trim() ?? '';
  const url = fromCopiedForm(written) ?? written;
  const repository = safeText(url) || 'the repository';
  const former = annotations[FORMER_FINGERPRINT];
  return {
    ...{ repository, place: gitHost(url).at(repository, 'repositoryUrl'), current },
    next: shownKey(annotations[NEXT_LINE]),
    ...(former !== undefined && { formerFingerprint: safeText(former, 100) }),
  };
}

/** Returns undefined for what is no public key: members may write anything there. */
function shownKey(line: string | undefined): ShownKey | undefined {
  const key = line === undefined ? undefined : parsePublicLine(line);
  if (line === undefined || key === undefined) return undefined;
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
