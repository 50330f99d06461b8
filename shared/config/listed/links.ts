import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { MOST_ISSUES_OF_A_PART } from '../limits.ts';
import { nearest } from '../nearest.ts';
import { issueOf, type Origins } from '../origins.ts';
import { quote, shown } from '../quote.ts';
import { cannotDepend, meantInstead, WAITING } from '../references.ts';
import { fluxKinds } from '../templates.ts';
import type { EffectiveConfig } from '../types.ts';
import { asObject, asString, valuesAt } from '../values.ts';

/** An object, and its path in the effective configuration: `source`, `kustomization`, or for example `objects[3]`. */
export interface Part {
  object: KubeObject;
  part: string;
}

/** Returns the objects for Flux, each with its path. */
export function configuredObjects(config: Pick<EffectiveConfig, 'source' | 'kustomization' | 'objects'>): Part[] {
  const { source, kustomization, objects } = config;
  const roots = Object.entries({ source, kustomization });
  return [
    ...roots.flatMap(([part, object]) => (object === undefined ? [] : [{ part, object }])),
    ...objects.map((object, index) => ({ part: `objects[${index}]`, object })),
  ];
}

/** A field by which one object of Flux names another one. */
export interface Link {
  /** The path in the object, such as `spec.dependsOn[0]`. */
  path: string;
  kind: string;
  namespace: string;
  name: string;
  /** True: the object waits for the other one for ever. False: it only reports about it or triggers it. */
  isNeeded: boolean;
}

/**
 * Kind -> the fields of its `spec` that name other objects -> their kind where the field does not say it. `[]` stands for each
 * entry of a list.
 */
const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  GitRepository: { 'include[].repository': 'GitRepository' },
  HelmChart: { sourceRef: '' },
  ArtifactGenerator: { 'sources[]': '' },
  Kustomization: { sourceRef: '', 'dependsOn[]': 'Kustomization' },
  HelmRelease: { 'chart.spec.sourceRef': '', chartRef: '', 'dependsOn[]': 'HelmRelease' },
  Alert: { providerRef: 'Provider', 'eventSources[]': '' },
  Receiver: { 'resources[]': '' },
  ImagePolicy: { imageRepositoryRef: 'ImageRepository' },
  ImageUpdateAutomation: { sourceRef: 'GitRepository' },
};

/** The fields of objects that report about others or trigger them. */
const LOOSE = ['eventSources[]', 'resources[]'];

/** Returns the objects of Flux that an object names, with the namespaces that Flux would read. */
export function linksOf(object: KubeObject): Link[] {
  return Object.entries(fields[object.kind] ?? {}).flatMap(([field, kind]) =>
    valuesAt(object, `spec.${field}`).flatMap(([value, path]) => {
      // The CRDs check the form of a reference, so what is not a text counts as absent here.
      const text = (name: string) => asString(asObject(value)?.[name]) || undefined;
      const name = text('name');
      if (name === undefined || name === '*') return [];
      const namespace = text('namespace') ?? object.metadata.namespace ?? '';
      return [{ path, kind: text('kind') ?? kind, namespace, name, isNeeded: !LOOSE.includes(field) }];
    }),
  );
}

/** An object that a reference may name. */
type Target = Pick<Link, 'kind' | 'namespace' | 'name'>;

/** What rules find. */
export interface Problems {
  issues: ConfigIssue[];
  warnings: ConfigIssue[];
}

/**
 * Checks the references of the listed objects to each other and to the root pair. A Kustomization that waits for a name
 * that does not exist waits for ever and says so only in the shoot.
 * @param roots the source and the root Kustomization
 */
export function linkProblems(listed: readonly Part[], roots: readonly KubeObject[], origins: Origins): Problems {
  const objects = [...roots, ...listed.map(({ object }) => object)];
  const targets = objects.flatMap(targetsOf);
  const known = new Set(targets.map(refOf));
  const issues: ConfigIssue[] = [];
  const warnings: ConfigIssue[] = [];
  for (const { object, part } of listed) {
    for (const link of linksOf(object)) {
      // A missing or unknown kind is an error of the CRD.
      if (link.kind === '' || isOfOthers(link) || known.has(refOf(link))) continue;
      // Each costs a search for the nearest name.
      if ((link.isNeeded ? issues : warnings).length >= MOST_ISSUES_OF_A_PART) continue;
      const meant = suggestion(object.kind, link, targets);
      const sentence = otherKindSentence(object, link, targets) ?? missingSentence(link, meant);
      const issue = issueOf(origins, `${part}.${link.path}`, sentence);
      if (link.isNeeded) issues.push({ ...issue, mayBeElsewhere: true });
      else if (meant !== undefined) warnings.push(issue);
    }
  }
  return { issues: [...issues, ...cycleIssues(listed, objects, origins)].slice(0, MOST_ISSUES_OF_A_PART), warnings };
}

/** Newer releases wait for objects of any kind, which the configuration cannot have. */
function isOfOthers({ path, kind }: Link): boolean {
  return path.startsWith('spec.dependsOn') && fluxKinds[kind] === undefined;
}

/** An ArtifactGenerator makes an ExternalArtifact for each of its artifacts. */
function targetsOf(object: KubeObject): Target[] {
  const own = targetOf(object);
  if (own.kind !== 'ArtifactGenerator') return [own];
  const names = valuesAt(object, 'spec.artifacts[].name').flatMap(([name]) => asString(name) ?? []);
  return [own, ...names.map((name) => ({ ...own, kind: 'ExternalArtifact', name }))];
}

function targetOf({ kind, metadata }: KubeObject): Target {
  return { kind, namespace: metadata.namespace ?? '', name: metadata.name };
}

function refOf({ kind, namespace, name }: Target): string {
  return `${kind} ${namespace}/${name}`;
}

/** Returns what was probably meant: a similar name, or the same name in another namespace or of another kind. */
function suggestion(own: string, link: Link, targets: readonly Target[]): string | undefined {
  const { kind, namespace, name } = link;
  const ofKind = targets.filter((target) => target.kind === kind);
  const here = ofKind.filter((target) => target.namespace === namespace);
  const near = nearest(
    name,
    here.map((target) => target.name),
  );
  if (near !== undefined) return near;
  const elsewhere = ofKind.find((target) => target.name === name);
  if (elsewhere !== undefined) return `namespace ${elsewhere.namespace}`;
  // An ImageUpdateAutomation has only one kind of source.
  if (!/(?:sourceRef|chartRef)$/.test(link.path) || own === 'ImageUpdateAutomation') return undefined;
  const possible = sameNames(link, targets).filter(
    (one) => isSource(one) && meantInstead(own, fieldOf(link), { ...one }) === undefined,
  );
  return possible[0] && `kind ${possible[0].kind}`;
}

function sameNames({ namespace, name }: Link, targets: readonly Target[]): Target[] {
  return targets.filter((target) => target.name === name && target.namespace === namespace);
}

const fieldOf = ({ path }: Link) => path.slice('spec.'.length);

/** The name is that of an object of another kind, which this field cannot name. */
function otherKindSentence(object: KubeObject, link: Link, targets: readonly Target[]): string | undefined {
  const { kind: own, metadata } = object;
  const others = sameNames(link, targets);
  if (link.path.startsWith('spec.dependsOn') && link.kind === own) {
    const other = others.find(({ kind }) => WAITING.has(kind));
    return other && `names the ${other.kind} ${quote(link.name)}, but ${cannotDepend(own, other.kind)}`;
  }
  const [found] = others.filter(isSource).flatMap(({ kind, namespace, name }) => {
    const reference = { kind, name, ...(namespace !== metadata.namespace && { namespace }) };
    return meantInstead(own, fieldOf(link), reference) ?? [];
  });
  return found && `${missing(link)}; ${found.slice(found.indexOf('; ') + 2)}`;
}

const isSource = ({ kind }: Target) => fluxKinds[kind]?.startsWith('source.') === true;

function missing({ kind, namespace, name }: Link): string {
  return `names ${shown(kind)} ${quote(name)} in namespace ${shown(namespace)}, which the configuration does not have`;
}

function missingSentence(link: Link, meant: string | undefined): string {
  return meant === undefined
    ? `${missing(link)}; add it to the configuration, or move this object to the repository that has it`
    : `${missing(link)}; did you mean ${meant}?`;
}

/** Objects that wait for each other wait for ever. */
function cycleIssues(listed: readonly Part[], objects: readonly KubeObject[], origins: Origins): ConfigIssue[] {
  const waits = new Map(objects.map((object) => [refOf(targetOf(object)), dependenciesOf(object)]));
  for (const { object, part } of listed) {
    const start = refOf(targetOf(object));
    const cycle = wayBack(start, waits);
    if (cycle === undefined) continue;
    const names = cycle.map((ref) => ref.slice(ref.indexOf(' ') + 1)).join(', which waits for ');
    const message = `is circular: it waits for ${names}; remove one of these dependencies`;
    return [issueOf(origins, `${part}.spec.dependsOn`, message)];
  }
  return [];
}

function dependenciesOf(object: KubeObject): string[] {
  return linksOf(object)
    .filter(({ path }) => path.startsWith('spec.dependsOn'))
    .map(refOf);
}

/** Returns the refs on the shortest way from an object to itself, in breadth: there may be a hundred objects. */
function wayBack(start: string, waits: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const ways = new Map<string, string[]>([[start, []]]);
  // This loop also visits what it adds.
  for (const [from, way] of ways) {
    for (const to of waits.get(from) ?? []) {
      if (to === start) return [...way, start];
      if (!ways.has(to)) ways.set(to, [...way, to]);
    }
  }
  return undefined;
}
