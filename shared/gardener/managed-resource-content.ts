import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompressSync, constants } from 'node:zlib';
import { apiVersionOf, type KubeObject, resources } from '../kube/resource.ts';
import { shapedObject } from '../shapes.ts';
import { ORIGIN, ORIGIN_LABEL } from './types.ts';

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

/** True for the key of such an annotation. */
export function isSecretReference(key: string): boolean {
  return key.startsWith(SECRET_REFERENCE);
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
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

function isUnprintable(code: number): boolean {
  if (code < 0x7f) return false;
  return code <= 0x9f || code === 0x2028 || code === 0x2029 || code === 0xfeff || code === 0xfffe || code === 0xffff;
}

/** A loop, because `replace` with a function takes five times as long for a ConfigMap full of such characters. */
function printable(json: string): string {
  if (!UNPRINTABLE.test(json)) return json;
  let [text, start] = ['', 0];
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (!isUnprintable(code)) continue;
    text += `${json.slice(start, index)}\\u${code.toString(16).padStart(4, '0')}`;
    start = index + 1;
  }
  return text + json.slice(start);
}

/** Returns how many bytes a text takes in a content, where some characters are escaped. */
export function lengthInContent(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || isUnprintable(code)) bytes += 6;
    else if (code === QUOTE || code === BACKSLASH) bytes += 2;
    else bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
  }
  return bytes;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

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
