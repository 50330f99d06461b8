import { isDeepStrictEqual } from 'node:util';
import { mergeLayers } from '../../shared/config/effective-config.ts';
import { sizeProblem } from '../../shared/config/limits.ts';
import { PatchProblem, parsePatch } from '../../shared/config/patches/parse.ts';
import { PROVIDER_CONFIG, readProviderConfig } from '../../shared/config/provider-config.ts';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import type { ConfigInputs, Landscape, Layer } from '../../shared/config/types.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import {
  ConfigError,
  type ConfigIssue,
  issuesText,
  issueText,
  MOST_ISSUES,
  unlessInvalid,
} from '../../shared/errors.ts';
import { selectorOf } from '../../shared/flux/patches/select.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../shared/kube/admission.ts';
import type { WebhookHandler } from '../../shared/runtime/webhook.ts';

/** Answers for a Shoot with the extension; a wrong `providerConfig` is refused with one sentence for each mistake. */
export const handler: WebhookHandler = async (request, { settings }) => reviewShoot(request, settings);

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
  if (now === undefined) return allowed;
  const isWritten = before === undefined || !isSame(now.providerConfig, before.providerConfig);
  if (!isWritten && isDeepStrictEqual(now.resources, before.resources)) return allowed;
  const layer = readProviderConfig(now.providerConfig);
  const issues = newIssues(layer, now, isWritten ? undefined : before, landscape);
  if (issues.length > 0) return rejection(shoot, now.index, issues);
  // What is left out of a valid providerConfig reaches the client that writes it.
  const warnings = isWritten ? (layer.warnings ?? []).slice(0, MOST_ISSUES).map(issueText) : [];
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
 * Returns the issues that were not there before.
 * @param before the entry with the same providerConfig: only changed resources can add some, and a user who replaces a
 * Secret need not fix the rest
 */
function newIssues(
  layer: Layer,
  now: Entry,
  before: Entry | undefined,
  landscape: Landscape | undefined,
): ConfigIssue[] {
  const issuesWith = ({ resources }: Entry) => [
    ...issuesWithAnyFluxConfig(layer, shootResourcesOf(resources), landscape),
    ...patchIssues(layer),
  ];
  const issues = issuesWith(now);
  // Compared by path, because the sentences also list the other resources.
  const known = new Set(before && issuesWith(before).map(({ path }) => path));
  return issues.filter(({ path }) => !known.has(path));
}

/** What is too large to validate is also too large to compare. */
function isSame(one: unknown, other: unknown): boolean {
  const [isTooLarge, wasTooLarge] = [one, other].map((value) => sizeProblem(value) !== undefined);
  return isTooLarge || wasTooLarge ? isTooLarge === wasTooLarge : isDeepStrictEqual(one, other);
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
 * Returns the issues of patches that no installation could take: their text, their operations or the patterns of their
 * targets. Which objects are installed is not known here. Patches with issues of their schema are not read.
 */
function patchIssues({ content, issues }: Layer): ConfigIssue[] {
  if (issues.length > 0) return [];
  return (content.flux.patches ?? []).flatMap((patch, index) => {
    try {
      parsePatch(patch);
      if (patch.target !== undefined) selectorOf(patch.target);
      return [];
    } catch (error) {
      if (!(error instanceof PatchProblem)) throw error;
      return [{ object: PROVIDER_CONFIG, path: `flux.patches[${index}]`, message: error.message }];
    }
  });
}

const REPOSITORY = 'https://example.com/fleet';

/**
 * Returns the issues of a providerConfig that no ConfigMap `flux-config` could resolve. The real ConfigMap is not read:
 * it may add the source for a Kustomization, or set another namespace for Flux. So an issue counts only when it exists
 * together with each of several representative ConfigMaps; the Extension reports the others.
 */
function issuesWithAnyFluxConfig(
  layer: Layer,
  shootResources: ConfigInputs['shootResources'],
  landscape: ConfigInputs['landscape'],
): ConfigIssue[] {
  // Its content is unknown then, so nothing can be added to it.
  if (!layer.isRead) return layer.issues;
  const found: ConfigIssue[][] = [];
  for (const fluxConfig of representativeFluxConfigs(layer)) {
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
function representativeFluxConfigs({ content: { sources, kustomizations } }: Layer): ConfigInputs['fluxConfig'][] {
  const withRepository = (more: Record<string, string> = {}) => ({
    namespace: '',
    data: { repositoryUrl: REPOSITORY, componentsExtra: 'source-controller, kustomize-controller', ...more },
  });
  const namespaces = [sources?.[0], kustomizations?.[0]].map((one) => one?.template.metadata?.namespace);
  const named = new Set(namespaces.filter((namespace) => namespace !== undefined));
  return [undefined, withRepository(), ...[...named].map((namespace) => withRepository({ namespace }))];
}

function issuesOfLayer(inputs: Omit<ConfigInputs, 'providerConfig'>, layer: Layer): ConfigIssue[] {
  const merged = unlessInvalid(() => mergeLayers(inputs, layer));
  // The policy may refuse the representative ConfigMap, and the real one may have what is missing.
  return (merged instanceof ConfigError ? merged.issues : []).filter(
    ({ rule, object, mayBeElsewhere }) => mayBeElsewhere !== true && (rule === undefined || object === PROVIDER_CONFIG),
  );
}
