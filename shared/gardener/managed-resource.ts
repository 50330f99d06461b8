import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import type { KubeClient } from '../kube/client.ts';
import { apiVersionOf, type KubeObject, resources } from '../kube/resource.ts';
import { shapedObject } from '../shapes.ts';
import { managedResourceOf } from './read-objects.ts';
import { type Applied, type ManagedResource, ORIGIN, ORIGIN_LABEL } from './types.ts';

/** The four ManagedResources of a Shoot, in the order in which they are written. */
export const managedResourceNames = {
  crds: 'shoot-flux-crds',
  controllers: 'shoot-flux-controllers',
  secrets: 'shoot-flux-secrets',
  sync: 'shoot-flux-sync',
} as const;

/** The one whose objects the seed's resource-manager applies, beside them in the control plane. */
export const MONITORING = 'shoot-flux-monitoring';

/** The ManagedResources of the Go extension by 23technologies; they are released before ours are written. */
export const legacyNames = ['extension-shoot-flux-flux-install', 'extension-shoot-flux-flux-config'];

/** On an object of a ManagedResource: it stays when the ManagedResource is deleted. */
export const KEEP_OBJECT = 'resources.gardener.cloud/keep-object';
/** On such an object: it is created if it is missing, and never updated. */
export const ONLY_CREATE = 'resources.gardener.cloud/ignore';
/** On such an object: it is deleted and recreated when the API server rejects an update. */
export const DELETE_ON_INVALID_UPDATE = 'resources.gardener.cloud/delete-on-invalid-update';

/** The state of a ManagedResource's current generation. */
type ApplyState =
  | { state: 'applied' }
  | { state: 'pending' }
  /** The resource-manager keeps retrying: objects cannot be applied, or old ones cannot be deleted. */
  | { state: 'failing'; reason: string; message: string };

/**
 * Reads the state from the conditions. A stale True does not count: the observed generation must be the current one.
 * While it fails, the real resource-manager switches ResourcesApplied between False and Progressing at every attempt,
 * both with the reason `ApplyFailed`: that is one state, and `lastTransitionTime` does not show its age.
 */
export function applyState(resource: ManagedResource): ApplyState {
  const applied = resource.status?.conditions?.find(({ type }) => type === 'ResourcesApplied');
  // Trap 29: an ignored ManagedResource never advances observedGeneration; a user has taken it over.
  if (isTrue(resource.metadata.annotations?.['resources.gardener.cloud/ignore'])) return { state: 'applied' };
  if (applied === undefined) return { state: 'pending' };
  const { status, reason, message } = applied;
  if (status === 'False' || reason === 'ApplyFailed' || reason === 'DeletionPending') {
    return { state: 'failing', reason, message };
  }
  const isCurrentGeneration = resource.status?.observedGeneration === resource.metadata.generation;
  return isCurrentGeneration && status === 'True' ? { state: 'applied' } : { state: 'pending' };
}

/** Returns the manifest of a ManagedResource with one content Secret. Only `MONITORING` has a class. */
export function managedResourceManifest(namespace: string, name: string, secretName: string): KubeObject {
  return {
    apiVersion: apiVersionOf(resources.managedResources),
    kind: resources.managedResources.kind,
    metadata: {
      namespace,
      name,
      labels: { [ORIGIN_LABEL]: ORIGIN },
      // Trap 27: without this reference Gardener's garbage collector takes the Secret.
      annotations: secretReference(secretName),
    },
    spec: { ...(name === MONITORING && { class: 'seed' }), secretRefs: [{ name: secretName }], keepObjects: false },
  };
}

/** Returns the merge patch that turns this version of a live ManagedResource, and no other, into the manifest. */
export function managedResourcePatch(live: ManagedResource, secretName: string): Record<string, unknown> {
  const { namespace = '', name, resourceVersion, annotations = {} } = live.metadata;
  const { metadata, spec } = managedResourceManifest(namespace, name, secretName);
  // Former references would keep former Secrets from Gardener's garbage collector.
  const former = Object.keys(annotations).filter((key) => key.startsWith(SECRET_REFERENCE));
  const gone = Object.fromEntries(former.map((key) => [key, null]));
  return {
    metadata: { resourceVersion, labels: metadata.labels, annotations: { ...gone, ...metadata.annotations } },
    spec: { ...(hasOtherClass(live) && { class: null }), ...(spec as object) },
  };
}

/** Selects the ManagedResources and content Secrets of ours in a control plane. */
export const ourLabelSelector = `${ORIGIN_LABEL}=${ORIGIN}`;

/** Lists our ManagedResources of a control plane. */
export async function listManagedResources(seed: KubeClient, namespace: string): Promise<ManagedResource[]> {
  const options = { namespace, labelSelector: ourLabelSelector };
  const { items } = await seed.list(resources.managedResources, options);
  return items.map(managedResourceOf);
}

/** True for ours, also without the label that a user has removed; others may use our names. */
export function isOurManagedResource({ metadata, spec }: ManagedResource): boolean {
  if (metadata.labels?.[ORIGIN_LABEL] === ORIGIN) return true;
  return spec.secretRefs.length > 0 && spec.secretRefs.every(({ name }) => isContentSecretName(metadata.name, name));
}

/** True when the live object already matches `managedResourceManifest`. */
export function isCurrent(live: ManagedResource | undefined, secretName: string): boolean {
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return false;
  const refs = live.spec.secretRefs;
  const reference = Object.entries(secretReference(secretName));
  return (
    refs.length === 1 &&
    refs[0]?.name === secretName &&
    live.spec.keepObjects !== true &&
    !hasOtherClass(live) &&
    live.metadata.labels?.[ORIGIN_LABEL] === ORIGIN &&
    reference.every(([key, value]) => live.metadata.annotations?.[key] === value)
  );
}

/** True for one that another resource-manager serves than it should. */
function hasOtherClass({ metadata, spec }: ManagedResource): boolean {
  return (spec.class ?? '') !== (metadata.name === MONITORING ? 'seed' : '');
}

/** True when everything that `managed-resources` recorded last is applied in exactly that form. */
export function allApplied(applied: Applied, live: ManagedResource[]): boolean {
  const wanted = Object.entries(applied.managedResources);
  const isApplied = ([name, secretName]: [string, string]) => {
    const resource = live.find(({ metadata }) => metadata.name === name);
    return resource !== undefined && isCurrent(resource, secretName) && applyState(resource).state === 'applied';
  };
  return wanted.length > 0 && wanted.every(isApplied);
}

/** Parses an annotation as Gardener does, with Go's notations of a boolean. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value);
}

/**
 * Returns the namespace that the resource-manager may not write into: before Gardener v1.147, or without the argument
 * that the webhook adds (rule 3).
 */
export function rejectedNamespace(resource: ManagedResource): string | undefined {
  const state = applyState(resource);
  return state.state === 'failing' ? unknownNamespace(state.message) : undefined;
}

/**
 * Returns the namespace in "unable to get: flux-system/x because of unknown namespace for the cache". A webhook of the
 * Shoot may use the same words.
 */
export function unknownNamespace(message: string): string | undefined {
  const found = /unable to get: ([^/\s]+)\/\S+ because of unknown namespace for the cache/.exec(message);
  return found === null || /denied (?:the )?request/.test(message.slice(0, found.index)) ? undefined : found[1];
}

/** The only key of a content Secret; the resource-manager decompresses keys that end in `.br`. */
const KEY = 'data.yaml.br';

/** Measured for the core components: 4 ms and 24.4 KB; a window of 4 MB takes 24 ms, mostly for its setup, and gives 24.0 KB. */
const QUALITY = 9;
const WINDOW_BITS = 16;

/** Five times as much as the limits allow us to write: a Secret of others may inflate without end. */
const MOST_TEXT = 16 * 1024 * 1024;

const GARBAGE_COLLECTABLE = 'resources.gardener.cloud/garbage-collectable-reference';

/**
 * Returns `managedresource-<name>-<8 hex digits>`. The digits are a hash of the uncompressed content, so a run that
 * changes nothing compresses nothing.
 */
export function contentSecretName(managedResource: string, objects: readonly KubeObject[]): string {
  return secretName(managedResource, packageOf(objects));
}

/**
 * Returns the immutable Secret with the objects of a ManagedResource. Compresses in a thread of its own: copies of a
 * megabyte take 80 ms, in which no other Shoot would be served.
 */
export async function contentSecret(
  namespace: string,
  managedResource: string,
  objects: readonly KubeObject[],
): Promise<KubeObject> {
  const content = packageOf(objects);
  const labels = { [GARBAGE_COLLECTABLE]: 'true', [ORIGIN_LABEL]: ORIGIN };
  return {
    apiVersion: apiVersionOf(resources.secrets),
    kind: resources.secrets.kind,
    metadata: { name: secretName(managedResource, content), namespace, labels },
    type: 'Opaque',
    immutable: true,
    data: { [KEY]: await content.packed() },
  };
}

/**
 * Returns the objects in a content Secret; undefined when it holds something else.
 * @param data the base64 values of the Secret
 */
export function unpackContent(data: Record<string, string>): KubeObject[] | undefined {
  const packed = data[KEY];
  if (packed === undefined) return undefined;
  try {
    const bytes = brotliDecompressSync(Buffer.from(packed, 'base64'), { maxOutputLength: MOST_TEXT });
    return bytes
      .toString('utf8')
      .split(/^---\n/m)
      .filter((document) => document !== '')
      .map((document) => kubeObjectOf(JSON.parse(document)));
  } catch {
    // The parser's error quotes the text, which may contain a Secret.
    return undefined;
  }
}

/** @throws TypeError for something that is no object of Kubernetes */
function kubeObjectOf(value: unknown): KubeObject {
  const object = shapedObject(value as KubeObject);
  if (typeof object.apiVersion === 'string' && typeof object.kind === 'string') return object;
  throw new TypeError('not an object of Kubernetes');
}

/** Returns the annotation of a ManagedResource that protects its Secret from Gardener's garbage collector. */
export function secretReference(secret: string): Record<string, string> {
  return { [`${SECRET_REFERENCE}${shortHash(secret)}`]: secret };
}

const SECRET_REFERENCE = 'reference.resources.gardener.cloud/secret-';

/** The cached form of a content: never its text, which is ten times as long. */
interface Package {
  hash: string;
  /** base64 */
  packed(): Promise<string>;
}

/**
 * Keyed by the list itself: Flux's own objects are one list for many Shoots, and lists with Secrets are freed with
 * their run.
 */
const packages = new WeakMap<readonly KubeObject[], Package>();

function packageOf(objects: readonly KubeObject[]): Package {
  const known = packages.get(objects);
  if (known !== undefined) return known;
  let packed: Promise<string> | undefined;
  const content: Package = {
    hash: shortHash(contentText(objects)),
    packed() {
      packed ??= compress(contentText(objects)).then((bytes) => bytes.toString('base64'));
      return packed;
    },
  };
  packages.set(objects, content);
  return content;
}

function secretName(managedResource: string, { hash }: Package): string {
  return `managedresource-${managedResource}-${hash}`;
}

/** True for a name that `contentSecretName` returns for this ManagedResource. */
export function isContentSecretName(managedResource: string, name: string): boolean {
  return name.startsWith(`managedresource-${managedResource}-`);
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/**
 * Returns one minified JSON document per object (JSON is YAML) with sorted keys: equal objects give equal text. It begins
 * with a separator, because the resource-manager reads a text that begins with a brace as a JSON stream.
 */
function contentText(objects: readonly KubeObject[]): string {
  return objects.map((object) => `---\n${printable(canonicalJson(object))}\n`).join('');
}

/** The characters that JSON allows unescaped and YAML does not, or reads as line breaks (YAML 1.1, 5.4). */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

function printable(json: string): string {
  return json.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns how many bytes a text takes in a content, where some characters are escaped. */
export function lengthInContent(text: string): number {
  // JSON abbreviates some control characters; they count at their full length.
  const short = text.match(/[\b\t\n\f\r]/g)?.length ?? 0;
  return Buffer.byteLength(printable(canonicalJson(text))) - '""'.length + 4 * short;
}

/** Returns JSON with sorted keys and without undefined values: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** Half of a surrogate pair, for which the resource-manager would reject the whole content, becomes U+FFFD, as in Go. */
function sorted(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((key) => [key.toWellFormed(), sorted(fields[key])]),
  );
}

const brotli = promisify(brotliCompress);

function compress(text: string): Promise<Buffer> {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
  };
  return brotli(text, { params });
}
