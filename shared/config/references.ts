import { quote, shown } from './quote.ts';
import { asObject, asString, type JsonObject, valueAt, valuesAt } from './values.ts';

/** The path of a field in the `spec` that is checked, and what is wrong with it. */
export type Found = [path: string, message: string];

/** Returns a reference as YAML in one line. */
function written({ kind, name, namespace }: JsonObject): string {
  const fields = Object.entries({ kind, name, namespace }).flatMap(([field, value]) =>
    typeof value === 'string' ? `${field}: ${shown(value)}` : [],
  );
  return `{${fields.join(', ')}}`;
}

const BY_CHART_REF = 'cannot read $kind; use chartRef: $ref instead of chart';
const BY_CHART = 'cannot read $kind; use chart.spec.sourceRef: $ref and chart.spec.chart instead of chartRef';
const OWN_CHART = '$kind has a chart of its own; name it as chartRef of a HelmRelease instead of this HelmChart';
const NO_MANIFESTS =
  '$kind has no manifests to apply; name a GitRepository, OCIRepository or Bucket, deploy charts with a HelmRelease, and wait for other objects with dependsOn';

/**
 * Kind -> field of its `spec` -> kinds that it cannot name, the field that has the issue, and what to do, where `$kind` and `$ref`
 * are what was written. The nearest word would lead to a third kind.
 */
const meant: Readonly<Record<string, Readonly<Record<string, readonly [kinds: string[], path: string, string]>>>> = {
  HelmRelease: {
    'chart.spec.sourceRef': [['OCIRepository', 'HelmChart', 'ExternalArtifact'], 'chart', BY_CHART_REF],
    chartRef: [['HelmRepository', 'GitRepository', 'Bucket'], 'chartRef', BY_CHART],
  },
  HelmChart: { sourceRef: [['OCIRepository', 'ExternalArtifact'], 'sourceRef.kind', OWN_CHART] },
  Kustomization: {
    sourceRef: [['HelmRepository', 'HelmChart', 'HelmRelease', 'Kustomization'], 'sourceRef.kind', NO_MANIFESTS],
  },
};

/** Kinds whose objects wait for others of their kind. */
export const WAITING: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/** Returns what is wrong with the references of an object to others: kinds that it cannot name. */
export function referenceProblems(kind: string, spec: JsonObject): Found[] {
  const ofKinds = Object.entries(meant[kind] ?? {}).flatMap(([field, [, path]]): Found[] => {
    const message = meantInstead(kind, field, asObject(valueAt(spec, field)) ?? {});
    return message === undefined ? [] : [[path, message]];
  });
  const dependencies = WAITING.has(kind) ? valuesAt(spec, 'dependsOn[]') : [];
  return [...ofKinds, ...dependencies.flatMap(([value, path]) => dependencyProblems(kind, value, path))];
}

/** Returns what a reference means that a field cannot have; undefined for one that it may have. */
export function meantInstead(own: string, field: string, reference: JsonObject): string | undefined {
  const [kinds = [], , message = ''] = meant[own]?.[field] ?? [];
  const named = asString(reference.kind) ?? '';
  return kinds.includes(named) ? message.replace('$kind', named).replace('$ref', () => written(reference)) : undefined;
}

function dependencyProblems(own: string, value: unknown, path: string): Found[] {
  if (typeof value === 'string') return [[path, `must be an object, not a string; write name: ${shown(value)}`]];
  const { kind: given, name = '' } = asObject(value) ?? {};
  const [, prefix, rest] = /^([^/]*)\/([^/]+)$/.exec(asString(name) ?? '') ?? [];
  // Only newer releases have kinds there: the CRD decides.
  if (given !== undefined) return [];
  if (rest === undefined || prefix === undefined) return [];
  const isKind = prefix.toLowerCase() === own.toLowerCase();
  const fields = isKind ? `name: ${shown(rest)}` : `name: ${shown(rest)} and namespace: ${shown(prefix)}`;
  return [[`${path}.name`, `${quote(`${prefix}/${rest}`)} is not the name of a ${own}; write ${fields}`]];
}

/** Returns what is wrong with the kind of a dependency where the release's CRD has no such field. */
export function dependencyKindProblem(own: string, named: string): string {
  return named === own
    ? `is not a field of dependsOn, which names only ${own}s; remove it`
    : `cannot be ${shown(named)}, because ${cannotDepend(own, named)}`;
}

/** Returns why an object cannot wait for one of another kind, and what it can do instead. */
export function cannotDepend(own: string, other: string): string {
  const reason = `a ${own} can only wait for other ${own}s`;
  if (!WAITING.has(other)) return `${reason}; remove it`;
  return own === 'HelmRelease'
    ? `${reason}; put this one into a folder of the repository, and let the Kustomization of that folder wait`
    : `${reason}; put the ${other} into the folder of a Kustomization with wait: true, and wait for that one`;
}
