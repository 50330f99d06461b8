import { isDeepStrictEqual } from 'node:util';
import { isSsh } from '../../shared/config/checks.ts';
import { contentProblem } from '../../shared/config/listed/secret-content.ts';
import { patchParts } from '../../shared/config/listed/secret-rules.ts';
import { keySentence, PATCH, secretUses } from '../../shared/config/listed/secret-uses.ts';
import { isFromRepositoryUrl, originOf } from '../../shared/config/origins.ts';
import { FLUX_SOURCE } from '../../shared/config/project-config.ts';
import { quote, shown } from '../../shared/config/quote.ts';
import type { Values } from '../../shared/config/secret-values.ts';
import type { ShootResource } from '../../shared/config/shoot-resources.ts';
import type { CopiedSecret, EffectiveConfig } from '../../shared/config/types.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import { type ConfigIssue, ShootFluxError } from '../../shared/errors.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Terminal } from './option.ts';
import { itemsOf, readDocuments } from './read-file.ts';

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

/** @throws ShootFluxError with the first one in another namespace: it would look as if it were there */
export function checkNamespace({ file, objects }: GivenSecrets, namespace: string | undefined): void {
  if (!namespace) return;
  for (const [key, { metadata }] of objects) {
    const other = asString(metadata.namespace);
    if (other === undefined || other === namespace) continue;
    const where = `${file}: ${key.replace('/', ' ')} is in namespace ${shown(other)}`;
    throw new ShootFluxError(`${where}, and the project in ${shown(namespace)}; correct the namespace, or remove it.`);
  }
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

/** An object that would be copied into the shoot, and its content as text. */
interface Copy {
  kind: string;
  name: string;
  namespace: string;
  /** The name in the project. */
  original: string;
  data: Values;
  /** What it lacks is added to it in the garden. */
  isGenerated: boolean;
}

/**
 * Returns what is wrong with the Secrets and ConfigMaps that a configuration names: each must be in the file, with the
 * keys that the object needs which names it. Copies of WorkloadIdentities are not checked.
 * @param release the release of Flux, for example `v2.9.4`
 * @param resources the Shoot's `spec.resources`; undefined: unknown, so its entries are not checked
 */
export function givenSecretIssues(
  config: EffectiveConfig,
  given: GivenSecrets,
  release: string,
  resources: readonly ShootResource[] | undefined,
): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  const copies: Copy[] = [];
  for (const copied of [config.sourceSecret, ...config.additionalSecrets]) {
    const original = copied && originalOf(copied, resources);
    if (copied === undefined || original === undefined) continue;
    const { kind, name, from } = original;
    const found = given.objects.get(`${kind}/${name}`);
    const target = { name: copied.targetName ?? name, namespace: copied.namespace };
    if (found !== undefined) {
      copies.push({ kind, ...target, original: name, data: textsOf(found), isGenerated: isGenerated(copied, config) });
    } else if (!isGenerated(copied, config)) {
      const message = `is not in ${given.file}${from}; add it there, and create it in the project`;
      issues.push({ object: `${kind} ${name}`, path: '', message });
    }
  }
  return [...issues, ...keyIssues(config, copies, release)];
}

function originalOf(
  { origin }: CopiedSecret,
  resources: readonly ShootResource[] | undefined,
): { kind: string; name: string; from: string } | undefined {
  if (origin.type === 'flux-source') return { kind: 'Secret', name: FLUX_SOURCE, from: '' };
  if (origin.type === 'project') return { kind: 'Secret', name: origin.name, from: '' };
  if (origin.type !== 'resource') return undefined;
  const entry = resources?.find(({ name }) => name === origin.resourceName);
  if (entry?.kind !== 'Secret' && entry?.kind !== 'ConfigMap') return undefined;
  return { kind: entry.kind, name: entry.resourceName, from: ` (spec.resources ${quote(entry.name)})` };
}

/** For `repositoryUrl` over SSH, what `flux-source` lacks of a key pair and host keys is added to it in the garden. */
function isGenerated({ origin }: CopiedSecret, { source, origins }: EffectiveConfig): boolean {
  const url = asObject(source?.spec)?.url;
  return origin.type === 'flux-source' && isFromRepositoryUrl(origins) && typeof url === 'string' && isSsh(url);
}

function textsOf({ data }: KubeObject): Values {
  const entries = Object.entries((asObject(data) ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}

function keyIssues(config: EffectiveConfig, copies: readonly Copy[], release: string): ConfigIssue[] {
  const issues = [...objectsOf(config), ...patchParts(config.flux)].flatMap(({ object, part }) =>
    secretUses(object).flatMap(({ kind, name, path, needs }) => {
      const { namespace } = object.metadata;
      const copy = copies.find((one) => one.kind === kind && one.name === name && one.namespace === namespace);
      if (copy === undefined) return [];
      const problem = copy.isGenerated ? undefined : needs?.(new Set(Object.keys(copy.data)), release);
      if (problem === undefined) return contentIssues(object, path, copy);
      const message = `names ${kind} ${namespace}/${name}, which ${keySentence(problem, kind)}`;
      return [{ ...originOf(config.origins, object.kind === PATCH ? part : `${part}.${path}`), message }];
    }),
  );
  // Several objects may use one Secret.
  return issues.filter((issue, index) => issues.findIndex((one) => isDeepStrictEqual(one, issue)) === index);
}

/** Of a key pair that the garden completes, only the private key is the user's. */
function contentIssues(object: KubeObject, path: string, { original, data, isGenerated }: Copy): ConfigIssue[] {
  const { known_hosts, ...rest } = data;
  const problem = contentProblem(object, path, isGenerated ? rest : data);
  if (problem === undefined) return [];
  const [, key = '', message = problem] = /^((?!has )\S+) (.+)$/.exec(problem) ?? [];
  return [{ object: `Secret ${original}`, path: key, message }];
}

function objectsOf({ source, kustomization, objects }: EffectiveConfig) {
  const placed = (part: string, object: KubeObject | undefined) => (object === undefined ? [] : [{ object, part }]);
  return [
    ...placed('source', source),
    ...placed('kustomization', kustomization),
    ...objects.flatMap((object, index) => placed(`objects[${index}]`, object)),
  ];
}
