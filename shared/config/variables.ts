// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript

import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import {
  type Check,
  gitBranch,
  gitCommit,
  gitRefName,
  gitTag,
  gitUrl,
  kustomizationPath,
  metadataKey,
  ociDigest,
  ociTag,
  ociUrl,
  semverRange,
} from './checks.ts';
import { nearest } from './nearest.ts';
import { issueOf, type Origins } from './origins.ts';
import { quote } from './quote.ts';
import { lengthProblem } from './schema.ts';
import type { ShootTraits } from './types.ts';
import { asObject, asString, type JsonObject, valueAt } from './values.ts';

/** The facts of `shoot-facts` that may be variables; `SHOOT_LABEL_` with the key of a label is one, too. */
export const SHOOT_FACTS = [
  'SHOOT_NAME',
  'SHOOT_NAMESPACE',
  'SHOOT_PROJECT',
  'SHOOT_UID',
  'SHOOT_PROVIDER',
  'SHOOT_REGION',
  'SHOOT_CLOUD_PROFILE',
  'SHOOT_PURPOSE',
  'SHOOT_KUBERNETES_VERSION',
  'SHOOT_DOMAIN',
  'SHOOT_POD_NETWORK',
  'SHOOT_SERVICE_NETWORK',
  'SHOOT_NODE_NETWORK',
  'SHOOT_MAINTENANCE_BEGIN',
  'SHOOT_MAINTENANCE_END',
] as const;

/** Facts whose values have other characters, but one form. */
const FORMS: readonly [name: RegExp, form: RegExp][] = [
  [/_NETWORK$/, /^[0-9a-fA-F][0-9a-fA-F.:]*\/\d{1,3}$/],
  [/^SHOOT_MAINTENANCE_/, /^\d{6}[+-]\d{4}$/],
];

const LABEL = 'SHOOT_LABEL_';

/** A variable, or `$${`, which stands for `${` itself. */
const VARIABLE = /\$?\$\{([^{}]*)\}/g;

/** Delimiters of a URL or path would reach for another host, repository or folder. */
const SAFE = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/** Returns the names of the variables in a text. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(VARIABLE)].filter(([all]) => !isEscaped(all)).map(([, name = '']) => name);
}

const isEscaped = (match: string) => match.startsWith('$$');

/** Checks the names of the variables in a text: an unknown one is wrong for every Shoot. */
export const variablesProblem: Check = (text) => {
  for (const name of variablesIn(text)) {
    if ((SHOOT_FACTS as readonly string[]).includes(name)) continue;
    if (name.startsWith(LABEL) && name !== LABEL) {
      const key = name.slice(LABEL.length);
      if (metadataKey(key) === undefined) continue;
      return `uses \${${quotedName(name)}}, but ${quote(key)} is not the key of a label; write only the key, and set the field for Shoots without the label in overrides.yaml`;
    }
    const suggestion = nearest(name, SHOOT_FACTS);
    const remedy =
      suggestion === undefined
        ? `use ${LABEL} with the key of a label, or one of ${SHOOT_FACTS.join(', ')}; write $\${ for \${ itself`
        : `did you mean ${suggestion}?`;
    return `uses \${${quotedName(name)}}, which is not a variable; ${remedy}`;
  }
  return undefined;
};

/** A name that has been checked is shown as it is, another one only in part. */
function quotedName(name: string): string {
  return /^\w{1,60}$/.test(name) ? name : quote(name);
}

/** Applies a check to a text whose variables have values, and otherwise checks only their names. */
export function unlessVariables(check?: Check): Check {
  return (text) => openProblem(text) ?? (variablesIn(text).length === 0 ? check?.(text) : variablesProblem(text));
}

/** Checks a field whose variables are not replaced. */
export const withoutVariables: Check = (text) => {
  const name = variablesIn(text).find((one) => one.startsWith('SHOOT_'));
  if (name === undefined) return undefined;
  return `has the variable \${${quotedName(name)}}, but only a URL, ref or path may have one; write the value, in overrides.yaml if Shoots differ`;
};

/** A variable inside another one would be replaced, and the outer one would stay as it is written. */
function openProblem(text: string): string | undefined {
  return text.replace(VARIABLE, '').includes('${SHOOT_')
    ? 'has ${SHOOT_… without a } of its own; close it, and write no variable inside another one'
    : undefined;
}

/**
 * Applies the check of a URL to one with variables, each of which stands for a part of the path. In the host, a label of a
 * Shoot could choose who gets the credentials.
 */
export function urlWithVariables(check: Check): Check {
  return (text) => {
    const open = openProblem(text);
    if (open !== undefined || variablesIn(text).length === 0) return open ?? check(text);
    const problem = variablesProblem(text);
    if (problem !== undefined) return problem;
    const path = text.replace(/^[a-z+]+:\/\/[^/]+\/|^[\w.-]+@[\w.-]+:\/(?!\/)|^[^/:]*:(?!\/)/, '');
    if (path === text || variablesIn(path).length < variablesIn(text).length) return IN_HOST;
    return check(withPlaceholders(text));
  };
}

const IN_HOST =
  'has a variable outside of its path, where a label of a Shoot could choose the host; move it into the path';

/** Returns a text with `x` in place of each variable, for rules that are about the rest of it. */
export function withPlaceholders(text: string): string {
  return text.replace(VARIABLE, (match) => (isEscaped(match) ? match.slice(1) : 'x'));
}

/** Returns a text with its variables replaced by the values of a Shoot, or what is wrong for this Shoot. */
export function substitute(text: string, shoot: ShootTraits): { text: string } | { problem: string } {
  for (const name of variablesIn(text)) {
    const problem = valueProblem(name, shoot);
    if (problem !== undefined) return { problem };
  }
  return {
    text: text.replace(VARIABLE, (match, name: string) =>
      isEscaped(match) ? match.slice(1) : (factOf(name, shoot) ?? ''),
    ),
  };
}

function valueProblem(name: string, shoot: ShootTraits): string | undefined {
  const value = factOf(name, shoot);
  const isLabel = name.startsWith(LABEL);
  if (value === undefined || value === '') {
    return isLabel
      ? `uses \${${quotedName(name)}}, but the Shoot has no value for the label ${quote(name.slice(LABEL.length))}; add the label, or set the field for such Shoots in overrides.yaml`
      : `uses \${${quotedName(name)}}, which is not known of this Shoot; use another variable, or set the field for such Shoots in overrides.yaml`;
  }
  return isSafe(name, value)
    ? undefined
    : `uses \${${quotedName(name)}}, whose value ${quote(value)} has more than letters, digits, '.', '_' and '-'; use another variable`;
}

function isSafe(name: string, value: string): boolean {
  const form = FORMS.find(([ofName]) => ofName.test(name) && !name.startsWith(LABEL))?.[1];
  return (form ?? SAFE).test(value) && !value.includes('..');
}

function factOf(name: string, { labels, facts = {} }: ShootTraits): string | undefined {
  const [values, key] = name.startsWith(LABEL) ? [labels, name.slice(LABEL.length)] : [facts, name];
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** The revisions in `spec.ref` of a source, by its kind, and their checks. If several are set, the last one counts. */
export const revisions = {
  GitRepository: { branch: gitBranch, tag: gitTag, semver: semverRange, name: gitRefName, commit: gitCommit },
  OCIRepository: { tag: ociTag, semver: semverRange, digest: ociDigest },
  Bucket: {},
} as const satisfies Record<string, Record<string, Check>>;

const refs = (checks: Record<string, Check>) =>
  Object.fromEntries(Object.entries(checks).map(([name, check]) => [`ref.${name}`, check]));

/** The fields with variables, by kind, and the checks of their values. No other field has any. */
const fields: Record<string, Record<string, Check>> = {
  GitRepository: { url: gitUrl, ...refs(revisions.GitRepository) },
  OCIRepository: { url: ociUrl, ...refs(revisions.OCIRepository) },
  Kustomization: { path: kustomizationPath },
};

/**
 * Replaces the variables of an object by the values of a Shoot, and checks the results like values that were written.
 * @param part the path of the object in the effective configuration
 */
export function substituted(
  part: string,
  object: KubeObject,
  shoot: ShootTraits | undefined,
  origins: Origins,
): { object: KubeObject; issues: ConfigIssue[] } {
  // Before the Shoot is known, its variables stay.
  if (shoot?.facts === undefined) return { object, issues: [] };
  const issues: ConfigIssue[] = [];
  let spec = asObject(object.spec) ?? {};
  for (const [path, check] of Object.entries(fields[object.kind] ?? {})) {
    const text = asString(valueAt(spec, path));
    if (!text?.includes('${')) continue;
    const result = substitute(text, shoot);
    const problem = 'problem' in result ? result.problem : (lengthProblem(result.text) ?? check(result.text));
    if (problem !== undefined) issues.push(issueOf(origins, `${part}.spec.${path}`, problem));
    else if ('text' in result) spec = withText(spec, path, result.text);
  }
  return { object: { ...object, spec }, issues };
}

function withText(spec: JsonObject, path: string, text: string): JsonObject {
  const [field = '', below] = path.split('.');
  return { ...spec, [field]: below === undefined ? text : { ...asObject(spec[field]), [below]: text } };
}

/**
 * True when the URL of a source has variables that are not replaced yet. Once the Shoot is known, what looks like one is a
 * part of the URL: it was escaped, or no variable is replaced there.
 */
export function hasOpenUrl({ kind, spec }: KubeObject, shoot: ShootTraits | undefined): boolean {
  const mayBeOpen = shoot?.facts === undefined && fields[kind]?.url !== undefined;
  return mayBeOpen && variablesIn(asString(asObject(spec)?.url) ?? '').length > 0;
}
