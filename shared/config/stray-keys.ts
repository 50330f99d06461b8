import type { ConfigIssue } from '../errors.ts';
import { pathText, unknownKey } from './issues.ts';
import { MOST_ISSUES_OF_A_PART } from './limits.ts';
import { issueAt, type Place } from './place.ts';
import type { JsonObject } from './values.ts';

/** A part of a FluxConfig that holds a manifest below `template`. */
export interface ManifestPart {
  /** What users call it: `source` or `Kustomization`. */
  name: string;
  known: readonly string[];
  /** Fields of its `spec`, which users write beside `template`. */
  specFields: ReadonlySet<string>;
}

const MANIFEST = ['apiVersion', 'kind', 'metadata', 'spec'];

/** The fields of sources that people write most. */
export const sourcePart: ManifestPart = {
  name: 'source',
  known: ['template', 'secretResourceName'],
  specFields: new Set(
    'url ref branch tag semver interval timeout secretRef provider suspend ignore include verify bucketName endpoint recurseSubmodules serviceAccountName insecure layerSelector'.split(
      ' ',
    ),
  ),
};

/** The fields of Kustomizations. */
export const kustomizationPart: ManifestPart = {
  name: 'Kustomization',
  known: ['template', 'patch'],
  specFields: new Set(
    'path interval prune sourceRef targetNamespace retryInterval timeout suspend wait force dependsOn patches images components postBuild decryption healthChecks healthCheckExprs kubeConfig serviceAccountName commonMetadata namePrefix nameSuffix deletionPolicy'.split(
      ' ',
    ),
  ),
};

/**
 * Returns the issues with keys beside `template`. A field of the manifest is the most frequent one, and a similar name would
 * be misleading: `path` is not `patch`.
 */
export function strayKeyIssues(part: ManifestPart, entry: JsonObject, place: Place): ConfigIssue[] {
  const unknown = Object.keys(entry).filter((key) => !part.known.includes(key));
  const ofManifest = unknown.filter((key) => MANIFEST.includes(key) || part.specFields.has(key));
  const others = unknown.filter((key) => !ofManifest.includes(key)).slice(0, MOST_ISSUES_OF_A_PART);
  const [first, ...more] = ofManifest;
  return [
    ...(first === undefined ? [] : [issueAt(place, first, misplaced(part, entry, first, more))]),
    ...others.map((key) => issueAt(place, pathText([key]), unknownKey(key, part.known))),
  ];
}

function misplaced({ name, known }: ManifestPart, entry: JsonObject, key: string, more: string[]): string {
  const isSpec = !MANIFEST.includes(key);
  const below = (parent: string) => `${parent}.${isSpec ? 'spec.' : ''}${key}`;
  const what = `${more.length > 0 ? `(and ${more.join(', ')}) ` : ''}belongs to the ${isSpec ? 'spec' : 'manifest'} of a ${name}`;
  if (!known.includes('patch') || entry.template !== undefined) return `${what}; write ${below('template')}`;
  if (entry.patch !== undefined) return `${what}; write ${below('patch')}`;
  return `${what}; write ${below('patch')} to change the project's Kustomization, or ${below('template')} for another one`;
}

/** Returns the fields that the part knows. */
export function withoutStrayKeys({ known }: ManifestPart, entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => known.includes(key)));
}
