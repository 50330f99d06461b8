import '../../shared/config/listed/all.ts';
import { isDeepStrictEqual } from 'node:util';
import { providerConfigLayer } from '../../shared/config/effective-config.ts';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import { sizeProblem } from '../../shared/config/size-limit.ts';
import type { Landscape } from '../../shared/config/types.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import { type ConfigIssue, issuesText, issueText, MOST_ISSUES } from '../../shared/errors.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../shared/kube/admission.ts';
import { issuesWithAnyFluxConfig, type ReadProviderConfig } from './any-flux-config.ts';
import { type PatchRules, patchIssues } from './patch-rules.ts';

const allowed: AdmissionAnswer = { allowed: true };

/**
 * Decides whether a Shoot may be stored. Only issues that this request introduces count: a Shoot that is being deleted
 * is always allowed, and an issue that was stored before must not block unrelated changes.
 */
export function decide(
  { object, oldObject }: AdmissionRequest,
  landscape?: Landscape,
  rules?: PatchRules,
): AdmissionAnswer {
  if (object === undefined) return allowed;
  const shoot = asObject(object);
  if (shoot?.kind !== 'Shoot' || asObject(shoot.metadata) === undefined) return notAShoot;
  if (asString(asObject(shoot.metadata)?.deletionTimestamp) !== undefined) return allowed;
  const now = entryOf(shoot);
  const before = entryOf(oldObject);
  if (now === undefined || isUnchanged(now, before)) return allowed;
  const issues = newIssues(now, before, landscape, rules);
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
function newIssues(
  now: Entry,
  before: Entry | undefined,
  landscape: Landscape | undefined,
  rules: PatchRules | undefined,
): ConfigIssue[] {
  const read = { value: now.providerConfig, layer: providerConfigLayer(now.providerConfig) };
  const issues = [...issuesOf(read, now, landscape), ...patchIssues(read.layer, rules)];
  if (before === undefined || !isDeepStrictEqual(now.providerConfig, before.providerConfig)) return issues;
  // Compared by path, because the sentences also list the other resources.
  const known = new Set(
    [...issuesOf(read, before, landscape), ...patchIssues(read.layer, rules)].map(({ path }) => path),
  );
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
