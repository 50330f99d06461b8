import type { ConfigIssue } from '../errors.ts';
import { isOfAddon } from './addons.ts';
import { SHARD_KEY } from './flux-options.ts';
import { limits, limitText } from './limits.ts';
import { configuredObjects, linkProblems, linksOf, type Part, type Problems } from './listed/links.ts';
import { secretWarnings } from './listed/secret-rules.ts';
import { nearest } from './nearest.ts';
import { issueAt, issueOf, type Origins, originOf } from './origins.ts';
import { textProblem } from './patches/parse.ts';
import { quote, shown } from './quote.ts';
import { fluxKinds } from './templates.ts';
import type { Complete, CopiedSecret } from './types.ts';
import { asObject, valuesAt } from './values.ts';
import { lengthOfYamlProblem } from './yaml-text.ts';

/**
 * Returns the issues that concern several layers, or several objects or options.
 * @param copies all Secrets that are copied into the shoot
 */
export function problemsOf(config: Complete, copies: readonly CopiedSecret[]): Problems {
  const { layers, origins } = config;
  if (layers.some(({ isRead }) => !isRead)) return { issues: [], warnings: [] };
  const parts = configuredObjects(config);
  const isOther = ({ part }: Part) => part.startsWith('objects[');
  const [roots, others] = [parts.filter((one) => !isOther(one)), parts.filter(isOther)];
  // The short forms `source` and `kustomization` may name what the user has created in the shoot.
  const isListed = ({ part }: Part) => originOf(origins, part).path.endsWith('[0].template');
  const listed = [...roots.filter(isListed), ...others];
  const unlisted = roots.filter((root) => !isListed(root)).map(({ object }) => object);
  const links = linkProblems(listed, unlisted, origins);
  return {
    issues: [
      ...pairIssues(config),
      ...componentIssues(config),
      ...sourceNamespaceIssues(config),
      ...roots.flatMap((root) => namespaceIssues(root, config)),
      ...optionIssues(config),
      ...sourceRefIssues(config),
      ...parts.flatMap((part) => patchTextIssues(part, config)),
      ...countIssues(config),
      ...duplicateIssues(parts, origins),
      ...others.flatMap((other) => [...namespaceIssues(other, config), ...linkNamespaceIssues(other, config)]),
      ...(isComplete(config) ? links.issues : links.issues.filter(({ mayBeElsewhere }) => mayBeElsewhere !== true)),
    ],
    warnings: [
      ...links.warnings,
      ...secretWarnings(config, parts, copies),
      ...parts.flatMap((part) => shardWarnings(part, config)),
    ],
  };
}

/** A source needs a Kustomization and vice versa, in any layers. */
function pairIssues({ layers }: Complete): ConfigIssue[] {
  const hasSource = layers.some(({ sets }) => sets.source);
  const [half] = layers.filter(({ sets }) => sets.source || sets.kustomization);
  if (half === undefined || hasSource === layers.some(({ sets }) => sets.kustomization)) return [];
  const [missing, message] = hasSource
    ? ['kustomization', 'a source is configured; add a kustomization with at least template.spec.path']
    : ['source', 'a kustomization is configured; add a source, or set repositoryUrl in the ConfigMap flux-config'];
  return [issueAt(half, missing, `is missing, but ${message}`)];
}

/** The controllers of the configured objects must be installed. */
function componentIssues({ layers, flux }: Complete): ConfigIssue[] {
  const hasSource = layers.some(({ sets }) => sets.source);
  const layer = layers.find(({ content }) => content.flux.components !== undefined);
  if (!hasSource || layer === undefined) return [];
  return ['source-controller', 'kustomize-controller']
    .filter((required) => !flux.components.includes(required))
    .map((required) => {
      const message = `lacks ${required}, which the configured source and Kustomization need; add ${required}`;
      return issueOf(layer.origins, 'flux.components', message);
    });
}

/** Kinds that act with the rights of an account. */
const ACTING: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/**
 * Controllers that watch only their own namespace ignore objects elsewhere. With multi-tenancy, they act as an account of
 * the object's namespace.
 */
function namespaceIssues({ object, part }: Part, { flux, origins }: Complete): ConfigIssue[] {
  const { namespace } = object.metadata;
  if (namespace === flux.namespace) return [];
  const { serviceAccountName, kubeConfig } = asObject(object.spec) ?? {};
  const issues: ConfigIssue[] = [];
  if (!flux.watchAllNamespaces) {
    const message = `must be ${flux.namespace}, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true`;
    issues.push(issueOf(origins, `${part}.metadata.namespace`, message));
  }
  const lacksAccount = ACTING.has(object.kind) && serviceAccountName === undefined && kubeConfig === undefined;
  if (flux.multiTenancy === true && lacksAccount) {
    const message = `is missing, which multiTenancy requires outside of ${flux.namespace}; name a ServiceAccount that may apply the objects`;
    issues.push(issueOf(origins, `${part}.spec.serviceAccountName`, message));
  }
  return issues;
}

/** With multi-tenancy, the controllers read no object of another namespace. */
function linkNamespaceIssues({ object, part }: Part, { flux, origins }: Complete): ConfigIssue[] {
  const { namespace } = object.metadata;
  if (flux.multiTenancy !== true) return [];
  return linksOf(object)
    .filter((link) => link.namespace !== namespace)
    .map((link) => {
      const message = `names an object in namespace ${shown(link.namespace)}, which multiTenancy does not permit; use one in ${namespace}`;
      return issueOf(origins, `${part}.${link.path}`, message);
    });
}

/** The groups of the kinds whose controllers have shards; those of source-watcher only in newer releases. */
const SHARDED = /^(source\.toolkit|kustomize|helm)\./;

/** Nothing in the shoot says why nobody acts on an object whose label names no shard. */
function shardWarnings({ object, part }: Part, { flux, origins }: Complete): ConfigIssue[] {
  const { key = SHARD_KEY, shards = [] } = flux.sharding ?? {};
  const shard = object.metadata.labels?.[key];
  // Patches may give the controllers other selectors.
  const isPatched = flux.patches?.some(({ patch }) => patch.includes('watch-label-selector')) === true;
  const isSharded = SHARDED.test(fluxKinds[object.kind] ?? '');
  if (shard === undefined || shards.includes(shard) || isPatched || !isSharded) return [];
  const ref = `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`;
  const meant = nearest(shard, shards);
  const names = new Intl.ListFormat('en', { type: 'disjunction' }).format(shards);
  const remedy = meant === undefined ? `use ${names}, or remove the label` : `did you mean ${meant}?`;
  const message =
    shards.length === 0
      ? `names a shard, but flux.sharding has no shards, so the main controllers act on ${ref}; set flux.sharding.shards, or remove the label`
      : `is not one of sharding.shards, so no controller acts on ${ref}; ${remedy}`;
  return [issueOf(origins, `${part}.metadata.labels.${key}`, `${quote(shard)} ${message}`)];
}

interface SourceRef {
  kind: string;
  name: string;
  namespace?: string;
}

/** The same for the root pair. Names the namespace that users can change: `main-ks` of `flux-config` has a fixed one. */
function sourceNamespaceIssues({ flux, source, kustomization, origins }: Complete): ConfigIssue[] {
  if (flux.multiTenancy !== true || source === undefined || kustomization === undefined) return [];
  const { sourceRef } = kustomization.spec as { sourceRef: SourceRef };
  const { namespace } = kustomization.metadata;
  const ofSource = sourceRef.namespace ?? namespace;
  if (ofSource === namespace) return [];
  const isPatched = origins['kustomization.spec.sourceRef'] !== undefined;
  if (!isPatched && origins.kustomization !== undefined) {
    const message = `must be ${ofSource}, the namespace of its source, because multiTenancy is true`;
    return [issueOf(origins, 'kustomization.metadata.namespace', message)];
  }
  const path = isPatched ? 'kustomization.spec.sourceRef.namespace' : 'source.metadata.namespace';
  const message = `must be ${namespace}, the namespace of the Kustomization, because multiTenancy is true`;
  return [issueOf(origins, path, message)];
}

/** Options that need another one, or exclude it. */
function optionIssues({ flux, kustomization, origins }: Complete): ConfigIssue[] {
  const { tenantDefaultServiceAccount: account, multiTenancy, proxy, sopsAgeSecret } = flux;
  const issues: ConfigIssue[] = [];
  const report = (path: string, message: string) => issues.push(issueOf(origins, path, message));
  if (account !== undefined && multiTenancy !== true) {
    report(
      'flux.tenantDefaultServiceAccount',
      'has no effect without multiTenancy; set multiTenancy to true, or remove it',
    );
  }
  const identities = ['tenantDefaultDecryptionServiceAccount', 'tenantDefaultKubeConfigServiceAccount'] as const;
  for (const option of identities) {
    if (flux[option] === undefined || (multiTenancy === true && flux.objectLevelWorkloadIdentity === true)) continue;
    const message =
      'has no effect without multiTenancy and objectLevelWorkloadIdentity; set both to true, or remove it';
    report(`flux.${option}`, message);
  }
  for (const name of Object.keys(flux.featureGates ?? {}).filter((one) => !flux.components.includes(one))) {
    report(`flux.featureGates.${name}`, 'is of a controller that is not installed; add it to components, or remove it');
  }
  if (proxy?.secretName !== undefined && (proxy.http ?? proxy.https) !== undefined) {
    report('flux.proxy.secretName', 'excludes http and https, which the Secret contains; remove them or secretName');
  }
  if (sopsAgeSecret !== undefined && kustomization === undefined) {
    report(
      'flux.sopsAgeSecret',
      'has no effect without a Kustomization; configure a source and a kustomization, or remove it',
    );
  }
  return issues;
}

/** A sourceRef with the source's name but another kind would wait forever. */
function sourceRefIssues({ source, kustomization, origins }: Complete): ConfigIssue[] {
  if (source === undefined || kustomization === undefined) return [];
  const { sourceRef } = kustomization.spec as { sourceRef: SourceRef };
  const sameName = sourceRef.name === source.metadata.name;
  const sameNamespace = (sourceRef.namespace ?? kustomization.metadata.namespace) === source.metadata.namespace;
  if (!sameName || !sameNamespace || sourceRef.kind === source.kind) return [];
  const message = `${quote(sourceRef.kind)} is not the kind of the configured source; use ${source.kind} or omit sourceRef`;
  return [issueOf(origins, 'kustomization.spec.sourceRef.kind', message)];
}

const PATCHES = ['spec.patches[]', 'spec.postRenderers[].kustomize.patches[]'];

/** The patches of what a Kustomization or a chart makes: with one that cannot be read, their controllers make nothing. */
function patchTextIssues({ object, part }: Part, { origins }: Complete): ConfigIssue[] {
  const texts = PATCHES.flatMap((field) => valuesAt(object, field)).flatMap(([value, path]) => {
    const { patch, target } = asObject(value) ?? {};
    return typeof patch === 'string' ? [{ path: `${path}.patch`, patch, hasTarget: target !== undefined }] : [];
  });
  // Some texts would take the parser too long.
  if (lengthOfYamlProblem(texts.map(({ patch }) => patch).join('\n')) !== undefined) return [];
  return texts.flatMap(({ path, patch, hasTarget }) => {
    const problem = textProblem(patch, hasTarget);
    return problem === undefined ? [] : [issueOf(origins, `${part}.${path}`, problem)];
  });
}

function countIssues({ layers, objects, origins }: Complete): ConfigIssue[] {
  if (objects.length <= limits.objects.most) return [];
  const { object } = originOf(origins, `objects[${objects.length - 1}]`);
  const { path } = layers.find((one) => one.object === object) ?? { path: '' };
  const message = `has ${objects.length} sources, Kustomizations and other objects for Flux; use at most ${limitText(limits.objects)}`;
  return [{ object, path, message }];
}

function duplicateIssues(parts: readonly Part[], origins: Origins): ConfigIssue[] {
  const seen = new Map<string, string>();
  return parts.flatMap(({ object: { kind, metadata }, part }) => {
    const ref = `${kind} ${metadata.namespace}/${metadata.name}`;
    const owner = seen.get(ref);
    const own = origins[part];
    const isBrought = own !== undefined && isOfAddon(own);
    const name = isBrought ? `of ${own.object}` : `at ${own?.path}`;
    seen.set(ref, owner ?? (own === undefined ? 'that repositoryUrl creates' : name));
    if (owner === undefined) return [];
    const remedy = isBrought ? 'use another name there, or remove one of the two' : 'use another name';
    const message = `${quote(metadata.name)} is already the name of the ${kind} ${owner} in namespace ${metadata.namespace}; ${remedy}`;
    return [issueOf(origins, `${part}.metadata.name`, message)];
  });
}

/** False if an object is missing here because it has an issue of its own; others may well name it. */
function isComplete({ layers, source, kustomization, sourceFrom, kustomizationFrom }: Complete): boolean {
  const lacksSource = source === undefined && sourceFrom.sets.source;
  const lacksKustomization = kustomization === undefined && kustomizationFrom.sets.kustomization;
  const lacksListed = layers.some(({ issues }) => issues.some(({ path }) => IN_LIST.test(path)));
  return !lacksSource && !lacksKustomization && !lacksListed;
}

const IN_LIST = /(^|\.)(sources|kustomizations|objects|addons)\[/;
