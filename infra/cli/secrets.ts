import { isSsh } from '../../shared/config/checks.ts';
import { keySentence, secretUses } from '../../shared/config/listed/secret-uses.ts';
import { isFromRepositoryUrl, originOf } from '../../shared/config/origins.ts';
import { FLUX_SOURCE } from '../../shared/config/project-config.ts';
import { githubAppProblem } from '../../shared/config/project-secret-content.ts';
import { quote, shown } from '../../shared/config/quote.ts';
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

/** An object that would be copied into the shoot, and the names of its keys. */
interface Copy {
  kind: string;
  name: string;
  namespace: string;
  keys: ReadonlySet<string>;
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
    if (isGenerated(copied, config)) continue;
    const found = given.objects.get(`${kind}/${name}`);
    if (found !== undefined) {
      const keys = new Set(Object.keys(asObject(found.data) ?? {}));
      copies.push({ kind, name: copied.targetName ?? name, namespace: copied.namespace, keys });
    } else {
      const message = `is not in ${given.file}${from}; add it there, and create it in the project`;
      issues.push({ object: `${kind} ${name}`, path: '', message });
    }
  }
  return [...issues, ...githubIssues(config, given), ...keyIssues(config, copies, release)];
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

function githubIssues({ source, sourceSecret }: EffectiveConfig, { objects }: GivenSecrets): ConfigIssue[] {
  const secret = objects.get(`Secret/${FLUX_SOURCE}`);
  const isApp = asObject(source?.spec)?.provider === 'github' && sourceSecret?.origin.type === 'flux-source';
  if (!isApp || secret === undefined) return [];
  const data = Object.entries((asObject(secret.data) ?? {}) as Record<string, string>);
  const values = data.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')] as const);
  const problem = githubAppProblem(Object.fromEntries(values.filter(([, value]) => value.trim() !== '')));
  if (problem === undefined) return [];
  const [, path = '', message = problem] = /^(githubApp\w+) (.+)$/.exec(problem) ?? [];
  return [{ object: `Secret ${FLUX_SOURCE}`, path, message }];
}

function keyIssues(config: EffectiveConfig, copies: readonly Copy[], release: string): ConfigIssue[] {
  return objectsOf(config).flatMap(({ object, part }) =>
    secretUses(object).flatMap(({ kind, name, path, needs }) => {
      const { namespace } = object.metadata;
      const copy = copies.find((one) => one.kind === kind && one.name === name && one.namespace === namespace);
      const problem = copy && needs?.(copy.keys, release);
      if (problem === undefined) return [];
      const message = `names ${kind} ${namespace}/${name}, which ${keySentence(problem, kind)}`;
      return [{ ...originOf(config.origins, `${part}.${path}`), message }];
    }),
  );
}

function objectsOf({ source, kustomization, objects }: EffectiveConfig) {
  const placed = (part: string, object: KubeObject | undefined) => (object === undefined ? [] : [{ object, part }]);
  return [
    ...placed('source', source),
    ...placed('kustomization', kustomization),
    ...objects.flatMap((object, index) => placed(`objects[${index}]`, object)),
  ];
}
