import type { ConfigIssue } from '../errors.ts';
import { isSsh } from './checks.ts';
import { fieldIssues } from './field-rules.ts';
import { isFluxConfigObject } from './flux-config-map.ts';
import { nearest } from './nearest.ts';
import { inside, issueAt, type Place } from './origins.ts';
import { FLUX_REGISTRY, FLUX_SOURCE } from './project-config.ts';
import { pathText, unknownKey } from './schema.ts';
import type { SourceKind } from './templates.ts';
import { asObject, asString, type JsonObject } from './values.ts';
import { revisions } from './variables.ts';

/** The path of a field in the `template` or entry that is checked, and what is wrong with it. */
type Found = [path: string, message: string];

/**
 * Returns the issues that concern several fields of a source of this kind.
 * @param part where the source is, such as `source`
 * @param isListed true: it is an entry of `sources`, which may name a Secret that is delivered in another way
 */
export function sourceIssues(
  source: JsonObject,
  template: JsonObject,
  kind: SourceKind,
  part: Place,
  isListed = false,
): ConfigIssue[] {
  const spec = asObject(template.spec) ?? {};
  const mayNameSecret = isListed || source.secretResourceName !== undefined;
  const found = [
    ...revisionProblems(spec, kind),
    ...credentialsProblems(spec, mayNameSecret, isFluxConfigObject(part.object)),
  ];
  const ofFields = fieldIssues(kind, spec, inside(part, 'template.spec'));
  return [...found.map(([path, message]) => issueAt(part, path, message)), ...ofFields];
}

function revisionProblems({ ref: given }: JsonObject, kind: SourceKind): Found[] {
  const ref = asObject(given);
  const known = Object.keys(revisions[kind]);
  if (ref === undefined || known.some((revision) => ref[revision] !== undefined)) return [];
  const [meant] = Object.keys(ref).flatMap((name) => ({ name, word: nearest(name, known) }));
  return meant?.word === undefined
    ? [['template.spec.ref', `specifies no revision; set one of ${known.join(', ')}`]]
    : [[pathText(['template', 'spec', 'ref', meant.name]), unknownKey(meant.name, known)]];
}

function credentialsProblems({ secretRef, url }: JsonObject, mayNameSecret: boolean, isOfProject: boolean): Found[] {
  const name = asString(asObject(secretRef)?.name);
  const path = 'secretResourceName';
  // The project has this Secret, or the merge reports that it has none.
  const isKnown = name === FLUX_REGISTRY || (name === FLUX_SOURCE && isOfProject);
  if (name !== undefined && !mayNameSecret && !isKnown) {
    const what = 'is missing, but source.template.spec.secretRef is set';
    return [[path, `${what}; name the entry of the Shoot's spec.resources that holds the credentials`]];
  }
  if (asObject(secretRef) !== undefined && name === undefined) {
    return [['template.spec.secretRef.name', 'is missing; set it to the name of the Secret in the shoot']];
  }
  if (!isSsh(asString(url) ?? '') || secretRef !== undefined) return [];
  const what = 'is missing, but Flux needs a key to read over SSH';
  return [[path, `${what}; name the entry of the Shoot's spec.resources that holds identity and known_hosts`]];
}
