import { shown } from '../../shared/config/quote.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Terminal } from './option.ts';
import { readDocuments } from './read-file.ts';

/** The Secrets and ConfigMaps of a project that a file holds. */
export interface GivenSecrets {
  file: string;
  /** By `Kind/name`, with all content in base64, as an API server returns it. */
  objects: ReadonlyMap<string, KubeObject>;
}

/**
 * Reads Secrets and ConfigMaps from documents, or from the items of a List.
 * @throws ShootFluxError that never quotes a value
 */
export async function readSecrets(file: string, terminal: Terminal): Promise<GivenSecrets> {
  const documents = (await readDocuments(file, terminal)).flatMap(itemsOf);
  const objects = new Map<string, KubeObject>();
  for (const document of documents) {
    const { kind, metadata } = asObject(document) ?? {};
    const name = asString(asObject(metadata)?.name);
    if ((kind !== 'Secret' && kind !== 'ConfigMap') || name === undefined || name === '') {
      throw new ShootFluxError(`${file} holds something else than Secrets and ConfigMaps with names; remove it.`);
    }
    const key = `${kind}/${name}`;
    if (objects.has(key)) throw new ShootFluxError(`${file} holds ${kind} ${name} twice; keep one of them.`);
    objects.set(key, withContent(document as KubeObject, `${file}: ${kind} ${name}`));
  }
  return { file, objects };
}

/**
 * One in another namespace would look as if it were there, and no Shoot would get it.
 * @param namespace that of the project
 * @throws ShootFluxError with the first one that is in another namespace
 */
export function checkNamespace({ file, objects }: GivenSecrets, namespace: string | undefined): void {
  if (!namespace) return;
  for (const [key, { metadata }] of objects) {
    const other = asString(metadata.namespace);
    if (other === undefined || other === namespace) continue;
    const where = `${file}: ${key.replace('/', ' ')} is in namespace ${shown(other)}`;
    throw new ShootFluxError(`${where}, and the project in ${shown(namespace)}; correct the namespace, or remove it.`);
  }
}

function itemsOf(document: unknown): unknown[] {
  const { kind, items } = asObject(document) ?? {};
  return asString(kind)?.endsWith('List') === true && Array.isArray(items) ? items : [document];
}

/** `stringData` is for people; an API server returns `data`. */
function withContent(object: KubeObject, where: string): KubeObject {
  const data = texts(object.data, `${where}: data`);
  const plain = Object.entries(texts(object.stringData, `${where}: stringData`));
  const encoded = plain.map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { ...object, data: { ...data, ...Object.fromEntries(encoded) } };
}

function texts(value: unknown, where: string): Record<string, string> {
  if (value === undefined || value === null) return {};
  const wrong = Object.values(asObject(value) ?? { wrong: 0 }).some((content) => typeof content !== 'string');
  if (wrong) throw new ShootFluxError(`${where} has a value that is no text; quote it.`);
  return value as Record<string, string>;
}
