import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { normalVersion, objectName } from './checks.ts';
import type { SecretOrigin } from './effective.ts';
import { deletionPolicies, logLevels, optionChecks, optionDocs, syncModes } from './flux-options.ts';
import { schemaIssues } from './issues.ts';
import {
  type AdditionalSecret,
  emptyLayer,
  type FluxOptions,
  type ReadLayer,
  type SourceLayer,
  type Template,
} from './layer.ts';
import { type Origins, optionOrigins } from './origins.ts';
import { key, requiredKey, text } from './schema.ts';
import { sizeProblem } from './size-limit.ts';
import { kustomizationIssues, sourceIssues } from './template-rules.ts';
import {
  kustomizationTemplateSchema,
  SOURCE_KINDS,
  type SourceKind,
  sourceTemplateSchema,
  tidyTemplate,
} from './templates.ts';
import { asObject, asString, type JsonObject, withoutEmpty } from './values.ts';

/** How errors call it. */
export const PROVIDER_CONFIG = 'providerConfig';
export const PROVIDER_CONFIG_API = 'flux.extensions.gardener.cloud/v1alpha1';

const listOf = (check: (item: string) => string | undefined) => z.array(text(check));

/** `flux` of the FluxConfig. */
export const fluxSchema = z.strictObject({
  version: key(text(optionChecks.version), optionDocs.version),
  registry: key(text(optionChecks.registry), optionDocs.registry),
  namespace: key(text(optionChecks.namespace), optionDocs.namespace),
  components: key(listOf(optionChecks.component), optionDocs.components),
  componentsExtra: key(listOf(optionChecks.component), optionDocs.componentsExtra),
  imagePullSecret: key(text(optionChecks.imagePullSecret), optionDocs.imagePullSecret),
  networkPolicy: key(z.boolean(), optionDocs.networkPolicy),
  watchAllNamespaces: key(z.boolean(), optionDocs.watchAllNamespaces),
  logLevel: key(z.enum(logLevels), optionDocs.logLevel),
  clusterDomain: key(text(optionChecks.clusterDomain), optionDocs.clusterDomain),
  tolerationKeys: key(listOf(optionChecks.tolerationKey), optionDocs.tolerationKeys),
});

/** `source` of the FluxConfig; its template is judged by `sourceTemplateSchema`. */
export const sourceSchema = z.strictObject({
  template: requiredKey(z.looseObject({}), {
    description:
      'A GitRepository, OCIRepository or Bucket; fields that are not listed here are passed on as they are, where the release of Flux knows them.',
    example: '{ kind: GitRepository, spec: { url: https://github.com/org/fleet, ref: { branch: main } } }',
  }),
  secretResourceName: key(text(), {
    description: "The entry of the Shoot's `spec.resources` whose Secret holds the credentials.",
    example: 'fleet-credentials',
  }),
});

/** `kustomization` of the FluxConfig; its template is judged by `kustomizationTemplateSchema`. */
export const kustomizationSchema = z.strictObject({
  template: requiredKey(z.looseObject({}), {
    description:
      'The root Kustomization; fields that are not listed here are passed on as they are, where the release of Flux knows them.',
    example: '{ spec: { path: ./clusters/production } }',
  }),
});

/** An entry of `additionalSecretResources`. */
export const additionalSecretSchema = z.strictObject({
  name: requiredKey(text(), {
    description:
      "The entry of the Shoot's `spec.resources` that is copied: a Secret, a ConfigMap or a WorkloadIdentity.",
    example: 'sops-age',
  }),
  targetName: key(text(objectName), {
    description: 'Its name in the Shoot.',
    default: "the object's own name",
    example: 'sops-age',
  }),
});

/** The FluxConfig, except what is inside of its parts. */
export const providerConfigSchema = z.strictObject({
  apiVersion: key(z.literal(PROVIDER_CONFIG_API), { description: 'May be left out.', example: PROVIDER_CONFIG_API }),
  kind: key(z.literal('FluxConfig'), { description: 'May be left out.', example: 'FluxConfig' }),
  flux: z.optional(z.looseObject({})),
  source: z.optional(z.looseObject({})),
  kustomization: z.optional(z.looseObject({})),
  additionalSecretResources: z.optional(z.array(z.looseObject({}))),
  syncMode: key(z.enum(syncModes), optionDocs.syncMode),
  deletionPolicy: key(z.enum(deletionPolicies), optionDocs.deletionPolicy),
  suspend: key(z.boolean(), optionDocs.suspend),
});

/** Reads the providerConfig of an Extension. */
export function readProviderConfig(value: unknown): ReadLayer {
  const tooMuch = sizeProblem(value);
  return tooMuch === undefined ? readParts(value) : unread(tooMuch);
}

function unread(message: string): ReadLayer {
  return {
    object: PROVIDER_CONFIG,
    layer: emptyLayer,
    sets: { source: false, kustomization: false },
    origins: {},
    issues: [{ object: PROVIDER_CONFIG, path: '', message }],
  };
}

function readParts(value: unknown): ReadLayer {
  const config = withoutEmpty(value);
  const object = asObject(config) ?? {};
  const top = providerConfigSchema.safeParse(config);
  const flux = readFlux(object.flux);
  const source = readSource(object.source);
  const kustomization = readKustomization(object.kustomization);
  const additional = readAdditionalSecrets(object.additionalSecretResources);
  return {
    object: PROVIDER_CONFIG,
    layer: {
      ...emptyLayer,
      ...(top.success && {
        syncMode: top.data.syncMode,
        deletionPolicy: top.data.deletionPolicy,
        suspend: top.data.suspend,
      }),
      flux: flux.value ?? {},
      source: source.value,
      kustomization: kustomization.value,
      additionalSecrets: additional.value ?? [],
    },
    sets: { source: object.source !== undefined, kustomization: object.kustomization !== undefined },
    secretResourceName: asString(asObject(withoutEmpty(object.source))?.secretResourceName),
    origins: originsOf(object, flux.value ?? {}),
    issues: [
      ...schemaIssues(PROVIDER_CONFIG, providerConfigSchema, config),
      ...flux.issues,
      ...source.issues,
      ...kustomization.issues,
      ...additional.issues,
    ],
  };
}

/** Parts that the effective configuration has, and where they are in the FluxConfig. */
const partPaths: Record<string, string> = {
  source: 'source.template',
  kustomization: 'kustomization.template',
  additionalSecrets: 'additionalSecretResources',
  syncMode: 'syncMode',
  deletionPolicy: 'deletionPolicy',
  suspend: 'suspend',
};

function originsOf(config: JsonObject, flux: FluxOptions): Origins {
  const options = optionOrigins(flux, (option, index) => ({
    object: PROVIDER_CONFIG,
    path: `flux.${option}${index === undefined ? '' : `[${index}]`}`,
  }));
  const parts = Object.entries(partPaths).filter(([, path]) => config[path.replace('.template', '')] !== undefined);
  return { ...options, ...Object.fromEntries(parts.map(([part, path]) => [part, { object: PROVIDER_CONFIG, path }])) };
}

interface Read<T> {
  value?: T | undefined;
  issues: ConfigIssue[];
}

// A part that is not even an object is the finding of `providerConfigSchema`.
const absent = { issues: [] };

function readFlux(value: unknown): Read<FluxOptions> {
  const flux = asObject(withoutEmpty(value));
  if (flux === undefined) return absent;
  const parsed = fluxSchema.safeParse(flux);
  if (!parsed.success) return { issues: schemaIssues(PROVIDER_CONFIG, fluxSchema, flux, ['flux']) };
  const { version, components, ...rest } = parsed.data;
  return {
    value: {
      ...rest,
      version: version && normalVersion(version),
      // An empty list is what Go programs write for an absent one.
      components: components?.length === 0 ? undefined : components,
    },
    issues: [],
  };
}

function readSource(value: unknown): Read<SourceLayer> {
  const source = asObject(withoutEmpty(value));
  if (source === undefined) return absent;
  const template = withDefaultSecretRef(tidyTemplate(source.template), source.secretResourceName);
  const issues = schemaIssues(PROVIDER_CONFIG, sourceSchema, source, ['source']);
  const object = asObject(template);
  if (object === undefined) return { issues };
  const kind = SOURCE_KINDS.find((known) => known === object.kind) ?? unknownKind(object);
  // Without a known kind emptyLayer can be said about the spec.
  const judged = typeof kind === 'string' ? judge(source, object, kind) : [kind];
  const all = [...issues, ...judged];
  if (all.length > 0) return { issues: all };
  const resourceName = asString(source.secretResourceName);
  const secret: SecretOrigin | undefined = resourceName === undefined ? undefined : { type: 'resource', resourceName };
  return { value: { template: object as unknown as Template, secret }, issues: [] };
}

function judge(source: JsonObject, template: JsonObject, kind: SourceKind): ConfigIssue[] {
  return [
    ...schemaIssues(PROVIDER_CONFIG, sourceTemplateSchema(kind), template, ['source', 'template']),
    ...sourceIssues(source, template, kind),
  ];
}

function unknownKind(template: JsonObject): ConfigIssue {
  const [issue] = schemaIssues(PROVIDER_CONFIG, z.object({ kind: z.enum(SOURCE_KINDS) }), template, [
    'source',
    'template',
  ]);
  return issue ?? { object: PROVIDER_CONFIG, path: 'source.template.kind', message: 'is not a valid value' };
}

/** The name that the first users of `secretResourceName` could leave out. */
function withDefaultSecretRef(template: unknown, secretResourceName: unknown): unknown {
  const object = asObject(template);
  const spec = asObject(object?.spec);
  if (object === undefined || spec === undefined || secretResourceName === undefined) return template;
  return spec.secretRef === undefined ? { ...object, spec: { ...spec, secretRef: { name: 'flux-system' } } } : template;
}

function readKustomization(value: unknown): Read<Template> {
  const kustomization = asObject(withoutEmpty(value));
  if (kustomization === undefined) return absent;
  const template = tidyTemplate(kustomization.template ?? {});
  const issues = schemaIssues(PROVIDER_CONFIG, kustomizationSchema, { ...kustomization, template }, ['kustomization']);
  const object = asObject(template);
  if (object === undefined) return { issues };
  const judged = [
    ...schemaIssues(PROVIDER_CONFIG, kustomizationTemplateSchema, object, ['kustomization', 'template']),
    ...kustomizationIssues(object),
  ];
  const all = [...issues, ...judged];
  return all.length > 0 ? { issues: all } : { value: object as unknown as Template, issues: [] };
}

function readAdditionalSecrets(value: unknown): Read<AdditionalSecret[]> {
  if (!Array.isArray(value)) return absent;
  const entries = value.map(withoutEmpty);
  const issues = entries.flatMap((entry, index) =>
    asObject(entry) === undefined
      ? []
      : schemaIssues(PROVIDER_CONFIG, additionalSecretSchema, entry, ['additionalSecretResources', index]),
  );
  // Entries keep their places, because later checks name them by index.
  return {
    value: entries.map((entry) => ({
      name: asString(asObject(entry)?.name) ?? '',
      targetName: asString(asObject(entry)?.targetName),
    })),
    issues,
  };
}
