import { isDeepStrictEqual } from 'node:util';
import type { ConfigIssue } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { Layer } from '../layer.ts';
import { type Origins, originOf } from '../origins.ts';
import { issueAt } from '../place.ts';
import { shown } from '../quote.ts';
import { resourcesByName } from '../shoot-resources.ts';
import type { CopiedSecret, FluxInstall } from '../types.ts';
import { asObject } from '../values.ts';
import { linkProblems } from './link-rules.ts';
import { linksOf } from './links.ts';
import type { Listed, ListedInputs, PlacedObject, PlacedSecret } from './merge.ts';
import { secretIssues } from './secret-rules.ts';

/** What the rules for listed objects find. */
export interface ListedProblems {
  issues: ConfigIssue[];
  warnings: ConfigIssue[];
}

/**
 * Checks the listed objects against each other, and against what is in the shoot for them. The short forms `source` and
 * `kustomization` keep their own rules: they may name what the user has created in the shoot.
 * @param copies what is copied into the shoot besides the credentials of the listed sources
 */
export function listedProblems(
  inputs: ListedInputs,
  { objects, secrets, issues }: Listed,
  copies: readonly CopiedSecret[],
): ListedProblems {
  const { layers, flux, source, kustomization, shootResources } = inputs;
  if (layers.some(({ isRead }) => !isRead)) return { issues: [], warnings: [] };
  const roots = listedRoots(inputs);
  const others = [source, kustomization].filter(
    (object) => object !== undefined && !roots.some((root) => root.object === object),
  );
  const all = [...roots, ...objects];
  const links = linkProblems(all, others as KubeObject[]);
  const available = {
    ...{ fluxNamespace: flux.namespace, shootResources },
    copies: [...copies, ...secrets.map(({ secret }) => secret)],
    existingSecrets: layers.flatMap(({ content }) => content.existingSecrets ?? []),
    existingConfigMaps: layers.flatMap(({ content }) => content.existingConfigMaps ?? []),
  };
  const found = [
    ...(isComplete(inputs) ? links.issues : links.issues.filter(isCertain)),
    ...secretIssues(all, available),
  ];
  return {
    issues: [
      ...issues,
      ...namespaceIssues(objects, flux),
      ...collisionIssues(secrets, copies, shootResources),
      ...found.map((issue) => whereWritten(issue, inputs.origins)),
    ],
    warnings: links.warnings,
  };
}

/** False if an object is missing here because it has an issue of its own; others may well name it. */
function isComplete({ layers, source, kustomization, sourceFrom, kustomizationFrom }: ListedInputs): boolean {
  const lacksSource = source === undefined && sourceFrom.sets.source;
  const lacksKustomization = kustomization === undefined && kustomizationFrom.sets.kustomization;
  const lacksListed = layers.some(({ issues }) => issues.some(({ path }) => IN_LIST.test(path)));
  return !lacksSource && !lacksKustomization && !lacksListed;
}

const IN_LIST = /(^|\.)(sources|kustomizations|objects)\[/;

const isCertain = ({ mayBeElsewhere }: ConfigIssue) => mayBeElsewhere !== true;

/** A patch of a higher layer may have set the field of the root Kustomization. */
function whereWritten(issue: ConfigIssue, origins: Origins): ConfigIssue {
  const { object, path } = originOf(origins, 'kustomization');
  if (issue.object !== object || !issue.path.startsWith(`${path}.`)) return issue;
  return { ...issue, ...originOf(origins, `kustomization${issue.path.slice(path.length)}`) };
}

/** Returns the root pair, as far as it comes from lists. */
function listedRoots({ source, kustomization, sourceFrom, kustomizationFrom, origins }: ListedInputs): PlacedObject[] {
  const rootOf = (part: 'source' | 'kustomization', object: KubeObject | undefined, from: Layer): PlacedObject[] =>
    object === undefined || from.listed?.[part]?.endsWith('[0]') !== true
      ? []
      : [{ object, place: originOf(origins, part) }];
  return [...rootOf('source', source, sourceFrom), ...rootOf('kustomization', kustomization, kustomizationFrom)];
}

/** Credentials must not replace another copy, such as the landscape's pull secret. */
function collisionIssues(
  secrets: readonly PlacedSecret[],
  copies: readonly CopiedSecret[],
  resources: ListedInputs['shootResources'],
): ConfigIssue[] {
  const byName = resourcesByName(resources);
  const nameOf = ({ namespace, targetName, origin }: CopiedSecret) => {
    const entry = origin.type === 'resource' ? byName.get(origin.resourceName) : undefined;
    return `${namespace}/${targetName ?? entry?.resourceName}`;
  };
  const taken = Map.groupBy([...copies, ...secrets.map(({ secret }) => secret)], nameOf);
  return secrets.flatMap(({ secret, place }) => {
    const sameName = taken.get(nameOf(secret)) ?? [];
    if (sameName.every((other) => isDeepStrictEqual(other, secret))) return [];
    const message = `would be copied to Secret ${nameOf(secret)}, which is already taken by another copy; set template.spec.secretRef.name to another name`;
    return [issueAt(place, '', message)];
  });
}

/** Kinds that act with the rights of an account. */
const ACTING: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/** Returns the issues with the namespaces of listed objects: the same rules as for the root pair. */
function namespaceIssues(objects: readonly PlacedObject[], flux: FluxInstall): ConfigIssue[] {
  return objects.flatMap((placed) => [...watchedIssues(placed, flux), ...tenancyIssues(placed, flux)]);
}

/** Controllers that watch only their own namespace ignore objects elsewhere. */
function watchedIssues({ object, place }: PlacedObject, flux: FluxInstall): ConfigIssue[] {
  if (flux.watchAllNamespaces || object.metadata.namespace === flux.namespace) return [];
  const message = `must be ${flux.namespace}, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true`;
  return [issueAt(place, 'metadata.namespace', message)];
}

/** With multi-tenancy, the controllers read no object of another namespace, and act as an account of the namespace. */
function tenancyIssues({ object, place }: PlacedObject, flux: FluxInstall): ConfigIssue[] {
  if (flux.multiTenancy !== true) return [];
  const { namespace } = object.metadata;
  const { serviceAccountName, kubeConfig } = asObject(object.spec) ?? {};
  const issues = linksOf(object)
    .filter((link) => link.namespace !== namespace)
    .map((link) =>
      issueAt(
        place,
        link.path,
        `names an object in namespace ${shown(link.namespace)}, which multiTenancy does not permit; use one in ${namespace}`,
      ),
    );
  const needsAccount = ACTING.has(object.kind) && namespace !== flux.namespace;
  if (needsAccount && serviceAccountName === undefined && kubeConfig === undefined) {
    const message = `is missing, which multiTenancy requires outside of ${flux.namespace}; name a ServiceAccount that may apply the objects`;
    issues.push(issueAt(place, 'spec.serviceAccountName', message));
  }
  return issues;
}
