import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { type Check, gitCommit, gitRefName, gitUrl, ociDigest, ociTag, ociUrl, semverRange } from './checks.ts';
import { type Origins, originOf } from './origins.ts';
import { issueAt, type Place } from './place.ts';
import { lengthProblem } from './schema.ts';
import type { ShootTraits } from './types.ts';
import { asObject, asString, type JsonObject } from './values.ts';
import { substitute, unlessVariables, urlWithVariables, variablesIn } from './variables.ts';

/** The fields with variables, by kind, and the checks of their values. No other field has any. */
const fields: Record<string, Record<string, Check | undefined>> = {
  GitRepository: {
    url: gitUrl,
    'ref.branch': gitRefName,
    'ref.tag': gitRefName,
    'ref.semver': semverRange,
    'ref.name': undefined,
    'ref.commit': gitCommit,
  },
  OCIRepository: { url: ociUrl, 'ref.tag': ociTag, 'ref.semver': semverRange, 'ref.digest': ociDigest },
  Kustomization: { path: undefined },
};

type Kinded = { kind: string; spec?: unknown };

const anyText: Check = () => undefined;
const inUrl = urlWithVariables(anyText);
const inOther = unlessVariables(anyText);

/**
 * Returns what is wrong with the variables of an object for every Shoot: an unknown name, or one that chooses a host. The
 * schemas of `source` and `kustomization` check the same together with the rest of the field.
 */
export function variableIssues(object: Kinded, place: Place): ConfigIssue[] {
  return textsOf(object).flatMap(({ path, text }) => {
    const problem = text.includes('${') ? (lengthProblem(text) ?? (path === 'url' ? inUrl : inOther)(text)) : undefined;
    return problem === undefined ? [] : [issueAt(place, `spec.${path}`, problem)];
  });
}

/**
 * Replaces the variables of a source or Kustomization by the values of a Shoot, and checks the results like values that
 * were written.
 * @param part `source` or `kustomization`, whose fields `origins` has
 */
export function substituted<T extends KubeObject | undefined>(
  part: string,
  object: T,
  shoot: ShootTraits | undefined,
  origins: Origins,
): { object: T; issues: ConfigIssue[] } {
  // Before the Shoot is known, its variables stay.
  if (object === undefined || shoot?.facts === undefined) return { object, issues: [] };
  const issues: ConfigIssue[] = [];
  let spec = asObject(object.spec) ?? {};
  for (const { path, text, check } of textsOf(object)) {
    if (!text.includes('${')) continue;
    const result = substitute(text, shoot);
    const problem = 'problem' in result ? result.problem : (lengthProblem(result.text) ?? check?.(result.text));
    if (problem !== undefined) issues.push({ ...originOf(origins, `${part}.spec.${path}`), message: problem });
    else if ('text' in result) spec = withText(spec, path, result.text);
  }
  return { object: { ...object, spec }, issues };
}

function textsOf(object: Kinded | undefined): { path: string; text: string; check: Check | undefined }[] {
  const spec = asObject(object?.spec) ?? {};
  return Object.entries(fields[object?.kind ?? ''] ?? {}).flatMap(([path, check]) => {
    const [field = '', below] = path.split('.');
    const text = asString(below === undefined ? spec[field] : asObject(spec[field])?.[below]);
    return text === undefined ? [] : [{ path, text, check }];
  });
}

function withText(spec: JsonObject, path: string, text: string): JsonObject {
  const [field = '', below] = path.split('.');
  return { ...spec, [field]: below === undefined ? text : { ...asObject(spec[field]), [below]: text } };
}

/**
 * True when the URL of a source has variables that are not replaced yet. Once the Shoot is known, what looks like one is a
 * part of the URL: it was escaped, or no variable is replaced there.
 */
export function hasOpenUrl(object: KubeObject | undefined, shoot: ShootTraits | undefined): boolean {
  const mayBeOpen = shoot?.facts === undefined && fields[object?.kind ?? '']?.url !== undefined;
  return mayBeOpen && variablesIn(asString(asObject(object?.spec)?.url) ?? '').length > 0;
}
