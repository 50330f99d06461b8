import { ShootFluxError } from '../errors.ts';
import { isRefused, KubeError } from '../kube/errors.ts';
import { refusalIn } from '../kube/refusal.ts';
import { safeText } from '../runtime/safe-text.ts';

/** The reason of Events about a refused creation, and their identity: what refuses it may change, the name stays. */
export const CREATION_REFUSED = 'CreationRefused';

/** The garden does not let us create an object. Once a person has created it, we may patch it (trap 42). */
export class CreationRefusedError extends ShootFluxError {
  override name = 'CreationRefusedError';
}

/** An object of a project that we create, and how a person does it instead. */
export interface Creation {
  /** For example `Secret garden-foo/flux-source`. */
  object: string;
  /** For example ``create it empty with `kubectl create …` ``. */
  remedy: string;
}

/** Awaits a creation in the garden. @throws CreationRefusedError with a sentence for members of the project */
export async function orRefused<T>(creation: Promise<T>, { object, remedy }: Creation): Promise<T> {
  try {
    return await creation;
  } catch (error) {
    const refusal = error instanceof KubeError && isRefused(error) ? refusalOf(error) : undefined;
    if (refusal === undefined) throw error;
    const { why, ofOperators } = refusal;
    throw new CreationRefusedError(`${object} cannot be created, because ${why}; ${remedy}.${ofOperators}`, {
      cause: error,
    });
  }
}

const LONGEST_NAME = 253;

/** Returns undefined for a failure that a person who creates the object would get as well, such as a quota. */
function refusalOf({ message }: KubeError): { why: string; ofOperators: string } | undefined {
  const { kind, by: name = '' } = refusalIn(message) ?? {};
  const by = safeText(name, LONGEST_NAME);
  switch (kind) {
    case 'webhookDenies':
      return { why: `the admission webhook ${by} denies it`, ofOperators: by === SEED_RESTRICTION ? OWN_ACCOUNT : '' };
    case 'policyDenies':
      return { why: `the ValidatingAdmissionPolicy ${by} denies it`, ofOperators: '' };
    case 'notAllowed':
      return { why: 'shoot-flux lacks the right', ofOperators: RIGHTS };
    default:
      return undefined;
  }
}

/** Denies it to the accounts that gardenlets create. On a self-hosted Shoot there is no other account. */
const SEED_RESTRICTION = 'seed-restriction.gardener.cloud';

const OWN_ACCOUNT =
  ' Once the operators of this landscape have upgraded the shoot-flux chart, shoot-flux has its own account in the garden and can create it itself.';
const RIGHTS =
  ' The operators of this landscape have to apply the registration of this shoot-flux version; it grants the right.';
