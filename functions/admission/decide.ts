import { isDeepStrictEqual } from 'node:util';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import { sizeProblem } from '../../shared/config/size-limit.ts';
import { asObject, asString } from '../../shared/config/values.ts';
import { type ConfigIssue, issuesText, MOST_ISSUES } from '../../shared/errors.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../../shared/kube/admission.ts';
import { issuesWithAnyFluxConfig } from './any-flux-config.ts';

const allowed: AdmissionAnswer = { allowed: true };

/**
 * Whether a Shoot may be stored. Only what its writer wrote and can mend is judged: nothing of a Shoot that is on its
 * way out, and nothing that was stored before, or whoever changes something else would have to mend this first.
 */
export function decide({ object, oldObject }: AdmissionRequest): AdmissionAnswer {
  if (object === undefined) return allowed;
  const shoot = asObject(object);
  if (shoot?.kind !== 'Shoot' || asObject(shoot.metadata) === undefined) return noShoot;
  if (asString(asObject(shoot.metadata)?.deletionTimestamp) !== undefined) return allowed;
  const part = partOf(shoot);
  const before = partOf(oldObject);
  if (part === undefined || isSame(part, before)) return allowed;
  const issues = newIssues(part, before);
  return issues.length === 0 ? allowed : refusal(shoot, part.index, issues);
}

const noShoot: AdmissionAnswer = {
  allowed: false,
  code: 400,
  reason: 'BadRequest',
  message: 'request.object is no Shoot with metadata: let the webhook ask for shoots of core.gardener.cloud alone.',
};

/** What of a Shoot counts here. */
interface Part {
  extension: Record<string, unknown>;
  /** Place in `spec.extensions`. */
  index: number;
  resources: unknown;
}

/** Undefined where the extension is not wanted; one that is enabled for every Shoot is not listed, and has no config. */
function partOf(shoot: unknown): Part | undefined {
  const spec = asObject(asObject(shoot)?.spec);
  const extensions = Array.isArray(spec?.extensions) ? spec.extensions : [];
  const index = extensions.findIndex((entry) => asObject(entry)?.type === EXTENSION_TYPE);
  const extension = asObject(extensions[index]);
  if (extension === undefined || extension.disabled === true) return undefined;
  return { extension, index, resources: spec?.resources };
}

/** With the same providerConfig only what the resources bring is new: who replaces a Secret has not written the rest. */
function newIssues(now: Part, before: Part | undefined): ConfigIssue[] {
  const issues = issuesOf(now);
  if (before === undefined || !isDeepStrictEqual(configOf(now), configOf(before))) return issues;
  // Not by their sentences: these name the other resources, too.
  const known = new Set(issuesOf(before).map(({ path }) => path));
  return issues.filter(({ path }) => !known.has(path));
}

function issuesOf(part: Part): ConfigIssue[] {
  return issuesWithAnyFluxConfig({
    providerConfig: configOf(part),
    shootResources: shootResourcesOf(part.resources),
  });
}

const configOf = ({ extension }: Part): unknown => extension.providerConfig;

/** True when nothing was changed that is judged here: the providerConfig, and the resources that it names. */
function isSame(now: Part, before: Part | undefined): boolean {
  if (before === undefined) return false;
  const isTooMuch = (part: Part) => sizeProblem(configOf(part)) !== undefined;
  // What is too much to be judged is too much to be compared.
  if (isTooMuch(now) || isTooMuch(before)) return isTooMuch(now) && isTooMuch(before);
  return isDeepStrictEqual(judged(now), judged(before));
}

function judged(part: Part): unknown[] {
  const named = new Set(textsIn(configOf(part)));
  return [configOf(part), shootResourcesOf(part.resources).filter(({ name }) => named.has(name))];
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function refusal(shoot: Record<string, unknown>, index: number, issues: ConfigIssue[]): AdmissionAnswer {
  const place = `spec.extensions[${index}].providerConfig`;
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
        .map(({ path, message }) => ({ field: path === '' ? place : `${place}.${path}`, message })),
    },
  };
}
