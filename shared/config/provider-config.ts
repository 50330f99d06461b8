import { normalVersion } from './checks.ts';
import { fluxSchema, settings } from './flux-options.ts';
import { type AdditionalSecret, type Layer, noContent, unreadLayer } from './layer.ts';
import { listProblems, sizeProblem } from './limits.ts';
import { inside, issueAt, type Origins, optionOrigins, type Place } from './origins.ts';
import { additionalSecretSchema, PROVIDER_CONFIG_API, providerConfigSchema } from './provider-config-schema.ts';
import { shown } from './quote.ts';
import {
  patchIn,
  type Read,
  readKustomization,
  readLists,
  readPatch,
  readSource,
  skipped,
  writtenSource,
} from './read-templates.ts';
import { schemaIssues } from './schema.ts';
import type { FluxOptions } from './types.ts';
import { asObject, asString, type JsonObject, withoutEmpty } from './values.ts';

/** The name of the providerConfig in errors. */
export const PROVIDER_CONFIG = 'providerConfig';

/**
 * Reads a FluxConfig: the providerConfig of an Extension, or another one with the same schema.
 * @param place where it is, for errors; its paths begin there
 */
export function readProviderConfig(value: unknown, place: Place = { object: PROVIDER_CONFIG, path: '' }): Layer {
  const problem = sizeProblem(value) ?? foreignProblem(value);
  const problems = problem === undefined ? listProblems(value) : [{ path: '', message: problem }];
  if (problems.length === 0) return readParts(value, place);
  return unreadLayer(
    place,
    problems.map(({ path, message }) => issueAt(place, path, message)),
  );
}

/** Users paste the resources of other installers, of which no field is known here. */
function foreignProblem(value: unknown): string | undefined {
  const { apiVersion, kind } = asObject(value) ?? {};
  const isForeign = typeof kind === 'string' && !['', 'FluxConfig'].includes(kind);
  if (!isForeign || typeof apiVersion !== 'string' || ['', PROVIDER_CONFIG_API].includes(apiVersion)) return undefined;
  return `is a ${shown(kind)} of ${shown(apiVersion)}; write a FluxConfig of ${PROVIDER_CONFIG_API}`;
}

function readParts(value: unknown, place: Place): Layer {
  const config = withoutEmpty(value);
  const object = asObject(config) ?? {};
  const top = providerConfigSchema.safeParse(config);
  const flux = readFlux(object.flux, inside(place, 'flux'));
  const { sources, kustomizations, objects, listed: inLists } = readLists(object, place);
  const written = writtenSource(object.source);
  const source = sources?.first ?? readSource(written.source, inside(place, written.path));
  const kustomization =
    kustomizations?.first ?? readKustomization(object.kustomization, inside(place, 'kustomization'));
  const elsewhere = sources === undefined && written.path !== 'source' ? { source: written.path } : {};
  const listed = inLists || elsewhere.source ? { ...elsewhere, ...inLists } : undefined;
  const isPatch = patchIn(object.kustomization) !== undefined;
  const patch = readPatch(object.kustomization, inside(place, 'kustomization'));
  const set = {
    ...object,
    source: source.isStray ? undefined : object.source,
    kustomization: kustomization.isStray ? undefined : object.kustomization,
  };
  const additional = readAdditionalSecrets(
    object.additionalSecretResources,
    inside(place, 'additionalSecretResources'),
  );
  return {
    ...place,
    isRead: true,
    content: {
      ...noContent,
      ...(top.success && {
        ...Object.fromEntries(Object.keys(settings).map((name) => [name, top.data[name as keyof typeof settings]])),
        existingSecrets: top.data.existingSecrets,
        existingConfigMaps: top.data.existingConfigMaps,
      }),
      flux: flux.value ?? {},
      source: source.value,
      kustomization: kustomization.value,
      kustomizationPatch: patch.value,
      ...(sources && { moreSources: sources.more }),
      ...(kustomizations && { moreKustomizations: kustomizations.more }),
      ...(objects && { objects: objects.templates }),
      additionalSecrets: additional.value,
    },
    sets: {
      source: set.source !== undefined || sources !== undefined,
      kustomization: (set.kustomization !== undefined && !isPatch) || kustomizations !== undefined,
    },
    secretResourceName: asString(asObject(withoutEmpty(sources?.root ?? written.source))?.secretResourceName),
    origins: originsOf(set, flux.value ?? {}, place, listed),
    issues: [
      ...schemaIssues(place, providerConfigSchema, config),
      ...flux.issues,
      ...source.issues,
      ...kustomization.issues,
      ...patch.issues,
      ...additional.issues,
      ...[sources, kustomizations, objects].flatMap((list) => list?.issues ?? []),
    ],
    warnings: [source, kustomization, sources, kustomizations, objects].flatMap((part) => part?.warnings ?? []),
  };
}

/** Part of the effective configuration -> its path in the FluxConfig. */
const partPaths: Record<string, string> = {
  source: 'source.template',
  kustomization: 'kustomization.template',
  additionalSecrets: 'additionalSecretResources',
  ...Object.fromEntries(Object.keys(settings).map((setting) => [setting, setting])),
};

function originsOf(config: JsonObject, flux: FluxOptions, place: Place, listed: Record<string, string> = {}): Origins {
  const options = optionOrigins(flux, (option, index) =>
    inside(place, `flux.${option}${index === undefined ? '' : `[${index}]`}`),
  );
  // A patch says itself which fields it sets, `patchedKustomization`.
  const { kustomization, ...others } = config;
  const set: JsonObject = {
    ...others,
    kustomization: patchIn(kustomization) === undefined ? kustomization : undefined,
  };
  const parts = Object.entries(partPaths).filter(([, path]) => set[path.replace('.template', '')] !== undefined);
  const first = Object.entries(listed).map(([part, path]) => [part, inside(place, `${path}.template`)]);
  return {
    ...options,
    ...Object.fromEntries([...parts.map(([part, path]) => [part, inside(place, path)]), ...first]),
  };
}

function readFlux(value: unknown, place: Place): Read<FluxOptions> {
  const flux = asObject(withoutEmpty(value));
  if (flux === undefined) return skipped;
  const parsed = fluxSchema.safeParse(flux);
  if (!parsed.success) return { issues: schemaIssues(place, fluxSchema, flux) };
  const { version, components, ...rest } = parsed.data;
  return {
    value: {
      ...rest,
      version: version && normalVersion(version),
      // Go programs write an empty list for an absent one.
      components: components?.length === 0 ? undefined : components,
    },
    issues: [],
  };
}

function readAdditionalSecrets(value: unknown, place: Place): Read<AdditionalSecret[]> {
  if (!Array.isArray(value) || value.length === 0) return skipped;
  const entries = value.map(withoutEmpty);
  const issues = entries.flatMap((entry, index) =>
    asObject(entry) === undefined ? [] : schemaIssues(place, additionalSecretSchema, entry, [index]),
  );
  // Invalid entries stay in the list, because later checks name entries by their index.
  return {
    value: entries.map((entry, index) => ({
      place: inside(place, `[${index}]`),
      name: asString(asObject(entry)?.name) ?? '',
      targetName: asString(asObject(entry)?.targetName),
    })),
    issues,
  };
}
