import { managedResourceNames } from '../../../shared/gardener/managed-resource.ts';
import { type Refusal, type RefusalKind, refusalIn } from '../../../shared/kube/refusal.ts';
import { beginOf, safeText } from '../../../shared/runtime/safe-text.ts';
import { unknownNamespace } from '../plan/delivery.ts';

/** What is wrong and what mends it, for each kind of refusal. `by` is never missing where a sentence needs it. */
const sentences: Record<Exclude<RefusalKind, 'storedVersions'>, (by: string) => [what: string, remedy: string]> = {
  webhookDenies: (by) => [
    `the admission webhook "${by}" of the Shoot denies it`,
    'let that webhook make an exception for the objects of Flux',
  ],
  webhookFails: (by) => [
    `the admission webhook "${by}" of the Shoot does not answer`,
    'mend it, or remove its webhook configuration from the Shoot',
  ],
  policyDenies: (by) => [
    `the ValidatingAdmissionPolicy "${by}" of the Shoot denies it`,
    'let its binding make an exception for the objects of Flux',
  ],
  podSecurity: (by) => [
    `the namespace enforces the Pod Security Standard "${by}"`,
    'take that label off the namespace of Flux, or choose another namespace',
  ],
  quota: (by) => [
    `the ResourceQuota "${by}" of the Shoot is used up`,
    'raise it, or choose a namespace without it for Flux',
  ],
  immutable: (by) => [
    by === '' ? 'a field of it cannot be changed' : `its field ${by} cannot be changed`,
    'delete the object in the Shoot, and it is made anew',
  ],
  managedByOthers: (by) => [
    `"${by}" writes the same fields`,
    'let one of the two go, for example by removing its manifest from the other source',
  ],
  changedMeanwhile: () => [
    'somebody else changes it at the same time',
    'find out who in its managedFields, should this not end by itself',
  ],
  terminating: (by) => [
    `the namespace ${by} is being deleted`,
    'see in its status what it waits for, and remove those finalizers; it is made anew then',
  ],
  noNamespace: (by) => [
    `the namespace ${by} is not in the Shoot`,
    `create it, or remove what refers to it from the configuration`,
  ],
  notAllowed: (by) => [`"${by}" may not do that`, 'give it back the rights that Gardener grants it in the Shoot'],
  noKind: (by) => [
    `the Shoot does not know the kind ${by}`,
    "see whether its CustomResourceDefinition is there, and add the component that brings it to the configuration's components",
  ],
  tooLarge: () => ['it is too large for the API server', 'make the Secret or the template smaller'],
  unreachable: () => ['the API server of the Shoot cannot be reached', 'this ends when it answers again'],
  invalid: (by) => [`the API server does not accept ${by}`, 'correct it in the template of the configuration'],
};

/**
 * What hinders a ManagedResource, in one sentence with the remedy and the message behind it.
 * @param reason of its condition
 */
export function explain(name: string, reason: string, whole: string): string {
  const message = beginOf(whole);
  const unknown = unknownNamespace(message);
  if (unknown !== undefined) {
    return (
      `ManagedResource ${name}: the gardener-resource-manager of this Shoot may not write into namespace "${unknown}" ` +
      `(unknown namespace for the cache); it needs the argument --extra-target-namespace=${unknown}, ` +
      'which Gardener has since v1.147 and the webhook of shoot-flux adds; delivery Direct or Auto does without it.'
    );
  }
  const told = quoted(name, message);
  if (reason === 'DecodingFailed') {
    return `ManagedResource ${name}: the resource-manager cannot read an object of it; correct the template or Secret that it comes from. The resource-manager says: ${told}`;
  }
  if (reason === 'DeletionPending') {
    return `ManagedResource ${name}: a former object does not go, and nothing new is applied before that; see in the Shoot which of its finalizers nobody takes away. The resource-manager says: ${told}`;
  }
  if (reason === 'CannotReadSecret') {
    return `ManagedResource ${name}: the resource-manager has not found the Secret with its objects; it is written again, and read with the next try. The resource-manager says: ${told}`;
  }
  const sentence = sentenceOf(refusalIn(message), message);
  if (reason === 'DeletionFailed') {
    const why = sentence ?? 'see in the Shoot what refuses that.';
    return `ManagedResource ${name}: a former object cannot be deleted, and nothing new is applied before that; ${why} The resource-manager says: ${told}`;
  }
  return sentence === undefined
    ? `ManagedResource ${name} cannot be applied to the shoot: ${told}`
    : `ManagedResource ${name}: ${sentence} The resource-manager says: ${told}`;
}

/** The same where we apply the objects ourselves; the whole message is that of our request. */
export function explainRejected(whole: string): string {
  const message = beginOf(whole);
  const sentence = sentenceOf(refusalIn(message), message);
  const told = safeText(message);
  return sentence === undefined
    ? `The shoot does not take what is to be applied: ${told}`
    : `The shoot does not take what is to be applied: ${sentence} It says: ${told}`;
}

function sentenceOf(refusal: Refusal | undefined, message: string): string | undefined {
  if (refusal === undefined) return undefined;
  const { kind, by = '' } = refusal;
  const object = objectOf(message);
  const subject = object === undefined ? '' : `${object.kind} ${object.name}: `;
  if (kind === 'storedVersions') {
    const crd = /"([^"]+)" is invalid: status\.storedVersions/.exec(message)?.[1];
    return safeText(
      `the shoot still stores objects of CustomResourceDefinition ${crd} in version ${by}, which this Flux no longer ` +
        'has; choose a release in between that has it, let it come up, run "flux migrate" against the Shoot, ' +
        'and choose this release again.',
      LONGEST_SENTENCE,
    );
  }
  const [what, remedy] = sentences[kind](by);
  return safeText(`${subject}${what}; ${remedy}.`, LONGEST_SENTENCE);
}

/** What is taken out of a message may be long, and hold what must not be seen: a webhook of the Shoot chose it. */
const LONGEST_SENTENCE = 700;

interface NamedObject {
  kind: string;
  /** With its namespace, if it has one. */
  name: string;
}

/** The object in `error during apply of object "apps/v1/Deployment/flux-system/source-controller": …`. */
function objectOf(message: string): NamedObject | undefined {
  return objectsOf(message)[0];
}

function objectsOf(message: string): NamedObject[] {
  const found = message.matchAll(/of (?:old )?(?:object|resource) "([^"]+)"/g);
  return [...found].flatMap(([, text = '']) => {
    const parts = text.split('/');
    const [kind, ...name] = parts.slice(parts[0] === 'v1' ? 1 : 2);
    return kind === undefined || name.length === 0 ? [] : [{ kind, name: name.join('/') }];
  });
}

/** What API servers themselves say of a Secret names fields; webhooks, policies and parsers may quote its values. */
function quoted(name: string, message: string): string {
  const objects = objectsOf(message);
  const isSecret =
    objects.length === 0 ? name === managedResourceNames.secrets : objects.some(({ kind }) => kind === 'Secret');
  const mayQuote = isSecret && /denied|Invalid value|decod|yaml|json/i.test(message);
  return mayQuote ? 'the message is withheld, it may quote a Secret' : safeText(message);
}
