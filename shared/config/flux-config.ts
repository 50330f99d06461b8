import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { normalVersion, withPort } from './checks.ts';
import { binaryIssues, type FluxConfigMap, fluxConfigObject } from './flux-config-map.ts';
import { fluxSchema, settings } from './flux-options.ts';
import { emptyLayer, type FluxConfig, type Layer } from './layer.ts';
import { entriesProblem, limits } from './limits.ts';
import { type Origins, optionOrigins, type Place } from './origins.ts';
import { FLUX_SOURCE, MAIN_GIT_REPOSITORY, MAIN_KUSTOMIZATION } from './project-config.ts';
import { repositoryIssues, repositoryKeys, repositoryOf, trimmed } from './repository.ts';
import { type KeyDoc, key, keyDocs, schemaIssues, text } from './schema.ts';
import { defaultIntervals } from './templates.ts';
import type { JsonObject } from './values.ts';

/** Options of the installation that are objects: `config.yaml` has them, and there is no key for them. */
const OBJECTS = ['nodeSelector', 'commonMetadata', 'proxy', 'storage', 'sharding', 'patches'];

const { version, ...otherOptions } = Object.fromEntries(
  Object.entries(fluxSchema.shape).filter(([option]) => !OBJECTS.includes(option)),
);

/** Key of `flux-config` -> the field of the effective configuration that it sets. Errors and remedies name keys by this map. */
export const fluxConfigFields: Readonly<Record<string, string>> = {
  fluxVersion: 'flux.version',
  ...Object.fromEntries(Object.keys(otherOptions).map((option) => [option, `flux.${option}`])),
  ...Object.fromEntries(
    Object.entries(repositoryKeys).flatMap(([name, schema]) => {
      const field = keyDocs.get(schema)?.sets;
      return field === undefined ? [] : [[name, field]];
    }),
  ),
  ...Object.fromEntries(Object.keys(settings).map((setting) => [setting, setting])),
};

/** Returns the key of flux-config that sets a field, undefined if only a providerConfig can set it. */
export function fluxConfigKey(field: string): string | undefined {
  return Object.entries(fluxConfigFields).find(([, set]) => set === field)?.[0];
}

/** The keys of the ConfigMap `flux-config`; every value is a string. */
export const fluxConfigSchema = z.strictObject({
  fluxVersion: textRow(version),
  ...repositoryKeys,
  ...textRows(settings),
  ...textRows(otherOptions),
  'config.yaml': key(text(undefined, limits.configuration), {
    description:
      'A whole [FluxConfig](#providerconfig) as YAML, for what the other keys cannot say. It must not repeat a key.',
    example: 'flux: { logLevel: debug }',
  }),
  'overrides.yaml': key(text(undefined, limits.configuration), {
    description:
      'A list of [deviations for some Shoots](#overridesyaml) as YAML, selected by the labels of the Shoots.',
    example: '[{ selector: { matchLabels: { stage: dev } }, config: { flux: { logLevel: debug } } }]',
  }),
  rollout: key(text(), {
    description: '[How an edit reaches the Shoots](#rollout) of the project, as YAML. Absent: all at once.',
    example: '{ maxInProgress: 10%, maxFailed: 5% }',
  }),
});

/** Returns the rows of a FluxConfig for the keys of `flux-config`. */
function textRows<T extends Record<string, z.ZodMiniType>>(rows: T): { [K in keyof T]: z.ZodMiniType } {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, textRow(row)])) as {
    [K in keyof T]: z.ZodMiniType;
  };
}

function textRow(row: z.ZodMiniType | undefined): z.ZodMiniType {
  return key(asText(row as z.ZodMiniType), keyDocs.get(row as z.ZodMiniType) as KeyDoc);
}

/** Returns the schema of a text that stands for a value of another schema. */
function asText(schema: z.ZodMiniType): z.ZodMiniType {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  if (def.type === 'optional') return asText(def.innerType as z.ZodMiniType);
  if (def.type === 'boolean') {
    return z.pipe(
      z.enum(['true', 'false']),
      z.transform((value) => value === 'true'),
    );
  }
  return def.type === 'array' ? listText(def.element as z.ZodMiniType) : schema;
}

/** A list is one text, separated by commas, blanks or newlines. */
function listText(entry: z.ZodMiniType): z.ZodMiniType {
  return z.pipe(
    text((value) => listProblem(items(value), entry), limits.configuration),
    z.transform(items),
  );
}

function listProblem(entries: string[], schema: z.ZodMiniType): string | undefined {
  if (entries.length > limits.list.most) return entriesProblem(entries.length);
  return entries.flatMap((entry) => schema.safeParse(entry).error?.issues ?? [])[0]?.message;
}

function items(value: string): string[] {
  return value.split(/[\s,]+/).filter((item) => item !== '');
}

/** The values of the keys: those of the repository, and others by the schemas of their rows. */
type FluxConfigKeys = Parameters<typeof repositoryOf>[0] & JsonObject;

/** Reads the ConfigMap `flux-config`. */
export function readFluxConfig(fluxConfig: FluxConfigMap): Layer {
  const object = fluxConfigObject(fluxConfig.namespace);
  const place = { object, path: '' };
  if (fluxConfig.tooLarge !== undefined) return emptyLayer(place, [fluxConfig.tooLarge]);
  const data = trimmed(fluxConfig.data);
  const parsed = fluxConfigSchema.safeParse(data);
  const keys = parsed.data as FluxConfigKeys | undefined;
  const content = keys === undefined ? { flux: {} } : toContent(place, keys);
  return {
    ...place,
    isRead: true,
    content,
    sets: { source: data.repositoryUrl !== undefined, kustomization: data.repositoryUrl !== undefined },
    knownHosts: keys?.knownHosts,
    origins: keys === undefined ? {} : originsOf(object, keys, content),
    issues: [
      ...schemaIssues(object, fluxConfigSchema, data),
      ...repositoryIssues(object, data),
      ...binaryIssues(fluxConfig),
    ],
    warnings: portWarnings(object, keys?.repositoryUrl),
  };
}

/** Such an address is valid, but no server answers where the number was meant as a port. */
function portWarnings(object: string, url: string | undefined): ConfigIssue[] {
  const port = url === undefined ? undefined : withPort(url);
  if (port === undefined) return [];
  const message = `has no port, because a number after the colon is a folder; write ${port} if a port is meant`;
  return [{ object, path: 'repositoryUrl', message }];
}

function originsOf(object: string, keys: FluxConfigKeys, { flux }: FluxConfig): Origins {
  // A list is one string here, so its entries have no path of their own.
  const options = optionOrigins(flux, (option) => ({ object, path: fluxConfigKey(`flux.${option}`) ?? option }));
  const set = Object.entries(fluxConfigFields).filter(([name]) => keys[name] !== undefined);
  return { ...options, ...Object.fromEntries(set.map(([name, field]) => [field, { object, path: name }])) };
}

/** Returns the content of the keys, each in the field that its row names. */
function toContent(place: Place, keys: FluxConfigKeys): FluxConfig {
  const repository = repositoryOf(keys);
  const isPrivate = repository?.type === 'private';
  const parts = {
    flux: {},
    source: {
      kind: 'GitRepository',
      metadata: { name: MAIN_GIT_REPOSITORY },
      spec: { interval: defaultIntervals.repository },
    },
    kustomization: {
      metadata: { name: MAIN_KUSTOMIZATION },
      spec: { interval: defaultIntervals.kustomization, path: './', prune: true, targetNamespace: 'default' },
    },
  };
  const values: JsonObject = {
    ...keys,
    fluxVersion: keys.fluxVersion && normalVersion(keys.fluxVersion as string),
    repositoryUrl: repository?.url,
    repositoryType: isPrivate ? { name: FLUX_SOURCE } : undefined,
    repositoryProvider: repository?.provider,
  };
  for (const [name, field] of Object.entries(fluxConfigFields)) {
    if (values[name] !== undefined) setAt(parts, field.split('.'), values[name]);
  }
  const { source, kustomization, ...others } = parts;
  if (repository === undefined) return others;
  return {
    ...others,
    sources: [{ template: source, place, secret: isPrivate ? { type: 'flux-source' } : undefined }],
    kustomizations: [{ template: kustomization, place }],
  };
}

function setAt(object: JsonObject, [field = '', ...below]: string[], value: unknown): void {
  if (below.length > 0) object[field] ??= {};
  if (below.length === 0) object[field] = value;
  else setAt(object[field] as JsonObject, below, value);
}
