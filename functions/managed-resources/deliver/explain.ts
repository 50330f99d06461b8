import { managedResourceNames, unknownNamespace } from '../../../shared/gardener/managed-resource.ts';
import { type Refusal, type RefusalKind, refusalIn } from '../../../shared/kube/refusal.ts';
import { beginOf, safeText } from '../../../shared/runtime/safe-text.ts';

/** The problem and its remedy for each kind of rejection. `by` is never missing where a sentence needs it. */
const sentences: Record<Exclude<RefusalKind, 'storedVersions'>, (by: string) => string> = {
  webhookDenies: (by) =>
    `the admission webhook "${by}" of the shoot denies it; exempt the objects of Flux from that webhook`,
  webhookFails: (by) =>
    `the admission webhook "${by}" of the shoot does not respond; ` +
    'fix it, or remove its webhook configuration from the shoot',
  policyDenies: (by) =>
    `the ValidatingAdmissionPolicy "${by}" of the shoot denies it; exempt the objects of Flux in its binding`,
  podSecurity: (by) =>
    `the namespace enforces the Pod Security Standard "${by}"; ` +
    'remove or relax the pod-security.kubernetes.io/enforce label of that namespace, or choose another namespace',
  quota: (by) =>
    `the ResourceQuota "${by}" of the shoot is used up; raise it, or choose a namespace without a quota for Flux`,
  immutable: (by) =>
    `${by === '' ? 'one of its fields' : `its field ${by}`} is immutable; ` +
    'delete the object in the shoot; shoot-flux then recreates it',
  managedByOthers: (by) =>
    `"${by}" writes the same fields; make sure that only one of the two manages the object, ` +
    'for example by removing its manifest from the other source',
  changedMeanwhile: () =>
    'another client changes it at the same time; if this persists, look for that client in its managedFields',
  terminating: (by) =>
    `the namespace ${by} is being deleted; ` +
    'check in its status which finalizers block the deletion, and remove them; shoot-flux then recreates it',
  noNamespace: (by) =>
    `the namespace ${by} does not exist in the shoot; create it, or remove the reference to it from the configuration`,
  notAllowed: (by) =>
    `"${by}" lacks the permission to write this object; restore the permissions that Gardener grants it in the shoot`,
  noKind: (by) =>
    `the shoot does not know the kind ${by}; check that its CustomResourceDefinition exists, ` +
    "and add the component that installs it to the configuration's components",
  tooLarge: () => 'it is too large for the API server; make the Secret or the template smaller',
  unreachable: () => 'the API server of the shoot cannot be reached; wait until it responds again',
  invalid: (by) => `the API server rejects ${by}; correct it in the template of the configuration`,
};

/**
 * Explains why a ManagedResource fails, by the reason of its condition: one sentence with the remedy, and the message.
 */
export function explain(name: string, reason: string, whole: string): string {
  const message = beginOf(whole);
  const unknown = unknownNamespace(message);
  if (unknown !== undefined) {
    return (
      `ManagedResource ${name}: the resource-manager of this Shoot cannot write to namespace "${unknown}" ` +
      `(unknown namespace for the cache); start it with --extra-target-namespace=${unknown} ` +
      '(Gardener 1.147 and later; the webhook of shoot-flux adds it).'
    );
  }
  const isWithheld = mayQuoteSecret(name, message);
  const quote = isWithheld ? WITHHELD : `The resource-manager says: ${safeText(message)}`;
  const known = Object.hasOwn(ofReasons, reason) ? ofReasons[reason] : undefined;
  if (known !== undefined) return `ManagedResource ${name}: ${known} ${quote}`;
  const sentence = sentenceOf(refusalIn(message), message);
  if (reason === 'DeletionFailed') {
    const why = sentence ?? 'check in the shoot what rejects the deletion.';
    return `ManagedResource ${name}: an old object cannot be deleted, which blocks new changes; ${why} ${quote}`;
  }
  if (sentence !== undefined) return `ManagedResource ${name}: ${sentence} ${quote}`;
  return `ManagedResource ${name} cannot be applied to the shoot${isWithheld ? `. ${WITHHELD}` : `: ${safeText(message)}`}`;
}

const ofReasons: Record<string, string> = {
  DecodingFailed:
    'the resource-manager cannot read one of its objects; correct the template or Secret that it comes from.',
  DeletionPending: 'deletion of an old object is stuck and blocks new changes; check its finalizers in the shoot.',
  CannotReadSecret:
    'the resource-manager did not find the Secret with its objects; ' +
    'shoot-flux recreates the Secret, and the next attempt reads it.',
};

function sentenceOf(refusal: Refusal | undefined, message: string): string | undefined {
  if (refusal === undefined) return undefined;
  const { kind, by = '' } = refusal;
  const [object] = objectsOf(message);
  const subject = object === undefined ? '' : `${object.kind} ${object.name}: `;
  if (kind === 'storedVersions') {
    const crd = /"([^"]+)" is invalid: status\.storedVersions/.exec(message)?.[1];
    return safeText(
      `the shoot still stores objects of CustomResourceDefinition ${crd} in version ${by}, which this Flux ` +
        'release no longer defines; shoot-flux stores them in another version with its next attempt, and installs the ' +
        'release after that. The installed one keeps running.',
      LONGEST_SENTENCE,
    );
  }
  return safeText(`${subject}${sentences[kind](by)}.`, LONGEST_SENTENCE);
}

/** Parts of a message may be long and may contain credentials: a webhook of the shoot can put anything there. */
const LONGEST_SENTENCE = 700;

/**
 * Returns the kinds and names of the objects in a message such as
 * `error during apply of object "apps/v1/Deployment/flux-system/source-controller": …`.
 */
function objectsOf(message: string): { kind: string; name: string }[] {
  const found = message.matchAll(/of (?:old )?(?:object|resource) "([^"]+)"/g);
  return [...found].flatMap(([, text = '']) => {
    const parts = text.split('/');
    const [kind, ...name] = parts.slice(parts[0] === 'v1' ? 1 : 2);
    return kind === undefined || name.length === 0 ? [] : [{ kind, name: name.join('/') }];
  });
}

const WITHHELD = '(The original message is withheld because it may contain Secret data.)';

/** API servers name only the fields of a Secret; webhooks, policies and parsers may quote its values. */
function mayQuoteSecret(name: string, message: string): boolean {
  const objects = objectsOf(message);
  const isSecret =
    objects.length === 0 ? name === managedResourceNames.secrets : objects.some(({ kind }) => kind === 'Secret');
  return isSecret && /denied|Invalid value|decod|yaml|json/i.test(message);
}
