import { isDeepStrictEqual } from 'node:util';
import { mergeLayers, providerConfigLayer } from '../../shared/config/effective-config.ts';
import type { Layer } from '../../shared/config/layer.ts';
import { sizeProblem } from '../../shared/config/limits.ts';
import { PROVIDER_CONFIG } from '../../shared/config/provider-config.ts';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import type { ConfigInputs, Landscape } from '../../shared/config/types.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import { ConfigError, type ConfigIssue, issuesText, issueText, MOST_ISSUES } from '../../shared/errors.ts';
import { PatchProblem, parsePatch } from '../../shared/flux/patches/parse.ts';
import { selectorOf } from '../../shared/flux/patches/select.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../shared/kube/admission.ts';
import type { WebhookHandler } from '../../shared/runtime/webhook.ts';

/** Answers for a Shoot with the extension; a wrong `providerConfig` is refused with one sentence for each mistake. */
export const handler: WebhookHandler = async (request, { settings: { defaults, policy } }) =>
  reviewShoot(request, { defaults, policy });

const allowed: AdmissionAnswer = { allowed: true };

/**
 * Decides whether a Shoot may be stored. Only issues that this request introduces count: a Shoot that is being deleted
 * is always allowed, and an issue that was stored before must not block unrelated changes.
 */
export function reviewShoot({ object, oldObject }: AdmissionRequest, landscape?: Landscape): AdmissionAnswer {
  if (object === undefined) return allowed;
  const shoot = asObject(object);
  if (shoot?.kind !== 'Shoot' || asObject(shoot.metadata) === undefined) return notAShoot;
  if (asString(asObject(shoot.metadata)?.deletionTimestamp) !== undefined) return allowed;
  const now = entryOf(shoot);
  const before = entryOf(oldObject);
  if (now === undefined || isUnchanged(now, before)) return allowed;
  const issues = newIssues(now, before, landscape);
  return issues.length === 0 ? withWarnings(now) : rejection(shoot, now.index, issues);
}

/** What is left out of a valid providerConfig reaches the client that writes it. */
function withWarnings({ providerConfig }: Entry): AdmissionAnswer {
  const warnings = (providerConfigLayer(providerConfig).warnings ?? []).slice(0, MOST_ISSUES).map(issueText);
  return warnings.length === 0 ? allowed : { allowed: true, warnings };
}

const notAShoot: AdmissionAnswer = {
  allowed: false,
  code: 400,
  reason: 'BadRequest',
  message: 'request.object is not a Shoot with metadata; register this webhook only for shoots of core.gardener.cloud.',
};

/** The Shoot's entry for this extension, and the resources that it may refer to. */
interface Entry {
  providerConfig: unknown;
  /** Position in `spec.extensions`. */
  index: number;
  resources: unknown;
}

/**
 * Returns undefined when the Shoot does not list the extension or disables it. An extension that is enabled for all
 * Shoots is not listed and has no providerConfig.
 */
function entryOf(shoot: unknown): Entry | undefined {
  const spec = asObject(asObject(shoot)?.spec);
  const extensions = Array.isArray(spec?.extensions) ? spec.extensions : [];
  const index = extensions.findIndex((entry) => asObject(entry)?.type === EXTENSION_TYPE);
  const extension = asObject(extensions[index]);
  if (extension === undefined || extension.disabled === true) return undefined;
  return { providerConfig: extension.providerConfig, index, resources: spec?.resources };
}

/**
 * Returns the issues that were not there before. With an unchanged providerConfig only changed resources can add some:
 * a user who replaces a Secret need not fix the rest.
 */
function newIssues(now: Entry, before: Entry | undefined, landscape: Landscape | undefined): ConfigIssue[] {
  const read = { value: now.providerConfig, layer: providerConfigLayer(now.providerConfig) };
  const issues = [...issuesOf(read, now, landscape), ...patchIssues(read.layer)];
  if (before === undefined || !isDeepStrictEqual(now.providerConfig, before.providerConfig)) return issues;
  // Compared by path, because the sentences also list the other resources.
  const known = new Set([...issuesOf(read, before, landscape), ...patchIssues(read.layer)].map(({ path }) => path));
  return issues.filter(({ path }) => !known.has(path));
}

function issuesOf(
  providerConfig: ReadProviderConfig,
  { resources }: Entry,
  landscape: Landscape | undefined,
): ConfigIssue[] {
  return issuesWithAnyFluxConfig(providerConfig, shootResourcesOf(resources), landscape);
}

/** Compares the providerConfig and the resources that it names. */
function isUnchanged(now: Entry, before: Entry | undefined): boolean {
  if (before === undefined) return false;
  const isTooLarge = ({ providerConfig }: Entry) => sizeProblem(providerConfig) !== undefined;
  // A providerConfig that is too large to validate is also too large to compare.
  if (isTooLarge(now) || isTooLarge(before)) return isTooLarge(now) && isTooLarge(before);
  return isDeepStrictEqual(validatedParts(now), validatedParts(before));
}

function validatedParts({ providerConfig, resources }: Entry): unknown[] {
  const named = new Set(textsIn(providerConfig));
  return [providerConfig, shootResourcesOf(resources).filter(({ name }) => named.has(name))];
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function rejection(shoot: Record<string, unknown>, index: number, issues: ConfigIssue[]): AdmissionAnswer {
  const field = `spec.extensions[${index}].providerConfig`;
  return {
    allowed: false,
    code: 422,
    reason: 'Invalid',
    message: issuesText(issues),
    details: {
      group: 'core.gardener.cloud',
      kind: 'Shoot',
      name: asString(asObject(shoot.metadata)?.name) ?? '',
      causes: issues
        .slice(0, MOST_ISSUES)
        .map(({ path, message }) => ({ field: path === '' ? field : `${field}.${path}`, message })),
    },
  };
}

/**
 * Returns the issue of the first patch that no installation could take: its text, its operations or the patterns of its
 * target. Which objects are installed is not known here. Patches with issues of their schema are not read.
 */
function patchIssues({ content, issues }: Layer): ConfigIssue[] {
  if (issues.length > 0) return [];
  for (const [index, patch] of (content.flux.patches ?? []).entries()) {
    try {
      parsePatch(patch);
      if (patch.target !== undefined) selectorOf(patch.target);
    } catch (error) {
      if (!(error instanceof PatchProblem)) throw error;
      return [{ object: PROVIDER_CONFIG, path: `flux.patches[${index}]`, message: error.message }];
    }
  }
  return [];
}

const REPOSITORY = 'https://example.com/fleet';

/** A providerConfig, read once: a request may need it for several lists of resources. */
interface ReadProviderConfig {
  value: unknown;
  layer: Layer;
}

/**
 * Returns the issues of a providerConfig that no ConfigMap `flux-config` could resolve. The real ConfigMap is not read:
 * it may add the source for a Kustomization, or set another namespace for Flux. So an issue counts only when it exists
 * together with each of several representative ConfigMaps; the Extension reports the others.
 */
function issuesWithAnyFluxConfig(
  { value, layer }: ReadProviderConfig,
  shootResources: ConfigInputs['shootResources'],
  landscape: ConfigInputs['landscape'],
): ConfigIssue[] {
  // Its content is unknown then, so nothing can be added to it.
  if (!layer.isRead) return layer.issues;
  const found: ConfigIssue[][] = [];
  for (const fluxConfig of representativeFluxConfigs(value)) {
    const issues = issuesOfLayer({ landscape, fluxConfig, shootResources }, layer);
    if (issues.length === 0) return [];
    found.push(issues);
  }
  const [first = [], ...others] = found;
  const common = others.reduce((remaining, other) => {
    const sentences = new Set(other.map(issueText));
    return remaining.filter((issue) => sentences.has(issueText(issue)));
  }, first);
  // Each ConfigMap leads to another sentence, but none makes the providerConfig valid.
  return common.length > 0 ? common : first;
}

/**
 * Returns the representative ConfigMaps: none, one with a repository, and one with a repository for each namespace in
 * the providerConfig. They enable the components that a source and a Kustomization need, as a real one may.
 */
function representativeFluxConfigs(providerConfig: unknown): ConfigInputs['fluxConfig'][] {
  const withRepository = (more: Record<string, string> = {}) => ({
    namespace: '',
    data: { repositoryUrl: REPOSITORY, componentsExtra: 'source-controller, kustomize-controller', ...more },
  });
  return [
    undefined,
    withRepository(),
    ...namespacesIn(providerConfig).map((namespace) => withRepository({ namespace })),
  ];
}

function namespacesIn(providerConfig: unknown): string[] {
  const { source, kustomization } = fieldsOf(providerConfig);
  const namespaces = [source, kustomization].map(
    (part) => fieldsOf(fieldsOf(fieldsOf(part).template).metadata).namespace,
  );
  return [...new Set(namespaces)].filter((namespace) => typeof namespace === 'string' && namespace !== '') as string[];
}

const fieldsOf = (value: unknown) => asObject(value) ?? {};

function issuesOfLayer(inputs: Omit<ConfigInputs, 'providerConfig'>, layer: Layer): ConfigIssue[] {
  try {
    mergeLayers(inputs, layer);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The policy may refuse the representative ConfigMap, and the real one may have what is missing.
    return error.issues.filter(
      ({ rule, object, mayBeElsewhere }) =>
        mayBeElsewhere !== true && (rule === undefined || object === PROVIDER_CONFIG),
    );
  }
}
