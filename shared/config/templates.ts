import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import {
  type Check,
  duration,
  gitUrl,
  isReservedForGardener,
  isZero,
  kustomizationName,
  kustomizationPath,
  labelValue,
  metadataKey,
  namespaceName,
  objectName,
  ociUrl,
  positiveDuration,
  sourceTimeout,
  variableName,
} from './checks.ts';
import { limits } from './limits.ts';
import { misspelt } from './nearest.ts';
import { issueAt, type Place } from './origins.ts';
import { quote } from './quote.ts';
import { key, mapOf, requiredKey, text } from './schema.ts';
import { asObject, asString, type JsonObject, withoutEmpty, withoutNulls } from './values.ts';
import { revisions, unlessVariables, urlWithVariables, withoutVariables } from './variables.ts';

/**
 * The default intervals: the schemas document them, and the objects get them. The first implementation used the same
 * ones, so another default changes objects in existing Shoots (decision 7).
 */
export const defaultIntervals = {
  /** `repositoryInterval` of flux-config. */
  repository: '30s',
  /** `kustomizationInterval` of flux-config. */
  kustomization: '5m',
  /** `spec.interval` in the templates of a providerConfig. */
  template: '1m',
} as const;

/** The kinds of source that can be configured. */
export const SOURCE_KINDS = ['GitRepository', 'OCIRepository', 'Bucket'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** The kinds that a Kustomization of Flux 2 accepts as its source. */
const SOURCE_REF_KINDS = [...SOURCE_KINDS, 'ExternalArtifact'];

/**
 * The kinds of Flux that this product knows -> their API group. The CRDs of the installed release decide which of them
 * a Shoot has.
 */
export const fluxKinds: Readonly<Record<string, string>> = {
  GitRepository: 'source.toolkit.fluxcd.io',
  OCIRepository: 'source.toolkit.fluxcd.io',
  Bucket: 'source.toolkit.fluxcd.io',
  HelmRepository: 'source.toolkit.fluxcd.io',
  HelmChart: 'source.toolkit.fluxcd.io',
  ExternalArtifact: 'source.toolkit.fluxcd.io',
  ArtifactGenerator: 'source.extensions.fluxcd.io',
  Provider: 'notification.toolkit.fluxcd.io',
  Alert: 'notification.toolkit.fluxcd.io',
  Receiver: 'notification.toolkit.fluxcd.io',
  ImageRepository: 'image.toolkit.fluxcd.io',
  ImagePolicy: 'image.toolkit.fluxcd.io',
  ImageUpdateAutomation: 'image.toolkit.fluxcd.io',
  Kustomization: 'kustomize.toolkit.fluxcd.io',
  HelmRelease: 'helm.toolkit.fluxcd.io',
};

/** Returns the API group of an apiVersion. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

const VERSION = /^v[0-9]+((alpha|beta)[0-9]+)?$/;

/**
 * The apiVersion of a manifest. Pre-releases of v1 are accepted like v1, because the CRDs of the installed release decide
 * which version is used; another major version could have other fields than those of a template.
 */
function apiVersionOf(kind: string) {
  const check: Check = (value) => {
    const group = fluxKinds[kind] ?? groupOf(value);
    const version = value.slice(group.length + 1);
    const isOther = templateSpecs[kind] !== undefined && !/^v1(\D|$)/.test(version);
    return groupOf(value) === group && VERSION.test(version) && !isOther
      ? undefined
      : `${quote(value)} is not an API version of ${kind}; use ${group}/v1 or omit it`;
  };
  return key(text(check), {
    description: 'The API. Its version does not matter: the object is created in the version of the installed Flux.',
    example: `${fluxKinds[kind]}/v1`,
  });
}

/**
 * The resource-manager obeys keys of `resources.gardener.cloud`: with `ignore` or `mode` on a Kustomization it would not
 * write `suspend: true` before the Kustomization is removed, and Flux would prune the user's workloads. Others change
 * what Gardener deletes with a Shoot. Flux's own keys stay allowed: kustomize-controller reads them only from objects
 * that it applies or prunes itself, and these templates are neither.
 */
const notReserved: Check = (name) =>
  isReservedForGardener(name) ? `has the key ${quote(name)}, which is reserved for Gardener; remove it` : undefined;

/** Returns the schema of a manifest of a kind. */
export function manifestSchema<K extends z.ZodMiniType, S extends z.ZodMiniType>(kind: string, ofKind: K, spec: S) {
  const metadata = z.strictObject({
    name: key(text(kind === 'Kustomization' ? kustomizationName : objectName), {
      description: 'The name.',
      default: '`flux-system`',
      example: 'fleet',
    }),
    namespace: key(text(namespaceName), {
      description: 'The namespace. It is created if missing, and the Secrets that the object uses are copied there.',
      default: "Flux's namespace",
      example: 'flux-system',
    }),
    labels: z.optional(mapOf((name) => metadataKey(name) ?? notReserved(name), labelValue)),
    // Kubernetes accepts capitals in the prefix of an annotation's key.
    annotations: z.optional(mapOf((name) => metadataKey(name.toLowerCase()) ?? notReserved(name))),
  });
  return z.strictObject({
    apiVersion: apiVersionOf(kind),
    kind: ofKind,
    metadata: key(metadata, { description: 'Name, namespace, labels and annotations.', example: '{ name: fleet }' }),
    spec,
  });
}

const interval = key(text(positiveDuration), {
  description: 'How often Flux checks the source for a new revision.',
  default: `\`${defaultIntervals.template}\``,
  example: '10m',
});
const timeout = z.optional(text(sourceTimeout));
const secretRef = key(z.looseObject({ name: z.optional(text(objectName)) }), {
  description: 'The name of the Secret in the shoot that is copied from `secretResourceName`.',
  default: '`name: flux-system` with `secretResourceName`',
  example: '{ name: fleet-credentials }',
});
const common = { interval, timeout, suspend: z.optional(z.boolean()), secretRef };

function refSchema(kind: SourceKind) {
  const checks = Object.entries<Check>(revisions[kind]);
  return z.looseObject(
    Object.fromEntries(checks.map(([name, check]) => [name, z.optional(text(unlessVariables(check)))])),
  );
}

const gitRepositorySpec = z.looseObject({
  url: requiredKey(text(urlWithVariables(gitUrl)), {
    description: 'GitRepository: the URL of the repository, `https://`, `http://` or `ssh://`.',
    example: 'https://github.com/org/fleet',
  }),
  ref: requiredKey(refSchema('GitRepository'), {
    description:
      'GitRepository: the revision. If several of `branch`, `tag`, `semver`, `name` and `commit` are set, the last one in this order counts.',
    example: '{ branch: main }',
  }),
  ...common,
});

const ociRepositorySpec = z.looseObject({
  url: requiredKey(text(urlWithVariables(ociUrl)), {
    description: 'OCIRepository: the URL of the artifact, without a tag.',
    example: 'oci://ghcr.io/org/manifests',
  }),
  ref: requiredKey(refSchema('OCIRepository'), {
    description:
      'OCIRepository: the revision. If several of `tag`, `semver` and `digest` are set, the last one in this order counts.',
    example: '{ tag: latest }',
  }),
  ...common,
});

const bucketSpec = z.looseObject({
  bucketName: requiredKey(text(withoutVariables), { description: 'Bucket: the name of the bucket.', example: 'fleet' }),
  endpoint: requiredKey(text(withoutVariables), {
    description:
      'Bucket: host and port of the server; with provider `azure`, the URL of the account, such as `https://account.blob.core.windows.net`. Flux does not read it with provider `gcp`.',
    example: 's3.amazonaws.com',
  }),
  ...common,
});

const sourceSpecs = { GitRepository: gitRepositorySpec, OCIRepository: ociRepositorySpec, Bucket: bucketSpec };

/** Returns the schema of a source's template for its kind. */
export function sourceTemplateSchema<K extends SourceKind>(kind: K) {
  const ofKind = requiredKey(z.literal(kind), {
    description: `One of ${SOURCE_KINDS.map((name) => `\`${name}\``).join(', ')}.`,
    example: 'GitRepository',
  });
  return manifestSchema(kind, ofKind, sourceSpecs[kind]);
}

const kustomizationSpec = z.looseObject({
  path: requiredKey(text(unlessVariables(kustomizationPath)), {
    description: 'The folder of the source to apply.',
    example: './clusters/production',
  }),
  interval: key(text(positiveDuration), {
    description: 'How often Flux applies the folder.',
    default: `\`${defaultIntervals.template}\``,
    example: '10m',
  }),
  prune: key(z.boolean(), {
    description: 'Whether objects that are removed from the source are deleted from the shoot.',
    default: '`false`',
    example: 'true',
  }),
  sourceRef: key(
    z.looseObject({
      kind: z.optional(
        text((value) => {
          const suggestion = misspelt(value, SOURCE_REF_KINDS);
          return suggestion && `${quote(value)} is not a kind of source; did you mean ${suggestion}?`;
        }),
      ),
      name: z.optional(text(objectName)),
      namespace: z.optional(text(namespaceName)),
    }),
    { description: 'The source.', default: 'the configured source', example: '{ kind: GitRepository, name: fleet }' },
  ),
  targetNamespace: key(text(namespaceName), {
    description: 'Overrides the namespace of all objects.',
    example: 'default',
  }),
  postBuild: z.optional(z.looseObject({ substitute: z.optional(mapOf(variableName, undefined, limits.nodes)) })),
  retryInterval: z.optional(text(positiveDuration)),
  // Flux makes at least 30 s of it.
  timeout: z.optional(text(duration)),
  suspend: z.optional(z.boolean()),
  wait: z.optional(z.boolean()),
  force: z.optional(z.boolean()),
});

/** The fields that are checked in the spec of these kinds; in `objects` none of them is required. */
export const templateSpecs: Readonly<Record<string, z.ZodMiniObject>> = {
  ...sourceSpecs,
  Kustomization: kustomizationSpec,
};

/** A schema takes longer to make than to check one template with it, and a list may have a hundred. */
export const sourceTemplateSchemas: Readonly<Record<SourceKind, z.ZodMiniType>> = {
  GitRepository: sourceTemplateSchema('GitRepository'),
  OCIRepository: sourceTemplateSchema('OCIRepository'),
  Bucket: sourceTemplateSchema('Bucket'),
};

/** The schema of the Kustomization's template. */
export const kustomizationTemplateSchema = manifestSchema(
  'Kustomization',
  key(z.literal('Kustomization'), { description: 'Optional.', example: 'Kustomization' }),
  kustomizationSpec,
);

/**
 * Removes what Go programs write for absent fields (`creationTimestamp: null`, `interval: 0s`, `ref: {}`, `status: {}`),
 * so that a marshalled object means the same as a hand-written one. Other values are unchanged.
 */
export function tidyTemplate(template: unknown): unknown {
  const object = asObject(withoutEmpty(withoutNulls(template)));
  if (object === undefined) return template;
  const { status: _, ...rest } = object;
  const spec = tidySpec(rest.spec ?? {}, REQUIRES_INTERVAL.has(asString(object.kind) ?? ''));
  const metadata = rest.metadata === undefined ? {} : { metadata: withoutEmpty(rest.metadata) };
  return { ...rest, ...metadata, spec };
}

/** Kinds without a default for their interval: zero is no way to leave it out. */
const REQUIRES_INTERVAL: ReadonlySet<string> = new Set(
  'HelmRelease HelmChart ImageRepository ImagePolicy ImageUpdateAutomation'.split(' '),
);

function tidySpec(spec: unknown, keepsInterval: boolean): unknown {
  const object = asObject(withoutEmpty(spec));
  if (object === undefined) return spec;
  const tidied: JsonObject = { ...object };
  for (const name of ['ref', 'secretRef', 'sourceRef']) {
    const inner = withoutEmpty(tidied[name]);
    if (asObject(inner) !== undefined && Object.keys(inner as JsonObject).length === 0) delete tidied[name];
    else if (inner !== undefined) tidied[name] = inner;
  }
  if (!keepsInterval && isZero(asString(tidied.interval) ?? '')) delete tidied.interval;
  return tidied;
}

/**
 * Fields of pre-releases that newer APIs dropped without a replacement, because the behaviour no longer has a choice. Fields
 * with a replacement stay errors: leaving them out would change what is deployed.
 */
const dropped: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Kustomization: { validation: 'every object is validated by the API server' },
  GitRepository: { gitImplementation: 'there is only one implementation' },
};

const PRE_RELEASE = /\/v[0-9]+(alpha|beta)[0-9]+$/;

/**
 * Returns a template without the fields that its API has dropped since. Only a template that is written for a pre-release
 * may have them.
 * @param place where the template is
 */
export function withoutDroppedFields(
  template: unknown,
  kind: string,
  place: Place,
): { template: unknown; warnings: ConfigIssue[] } {
  const object = asObject(template);
  const spec = asObject(object?.spec);
  const apiVersion = asString(object?.apiVersion) ?? '';
  const fields = dropped[kind] ?? {};
  const found = Object.keys(fields).filter((field) => spec !== undefined && Object.hasOwn(spec, field));
  if (spec === undefined || found.length === 0 || !PRE_RELEASE.test(apiVersion)) return { template, warnings: [] };
  const kept = Object.fromEntries(Object.entries(spec).filter(([field]) => !found.includes(field)));
  const warnings = found.map((field) => {
    const message = `is left out, because the API has dropped it since ${quote(apiVersion)}: ${fields[field]}; remove it`;
    return issueAt(place, `spec.${field}`, message);
  });
  return { template: { ...object, spec: kept }, warnings };
}
