import { isDeepStrictEqual } from 'node:util';
import { ConfigError, type ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { additionalSecrets } from './additional-secrets.ts';
import { ADDON_RULE, addonPlace, broughtByAddons, isOfAddon } from './addons.ts';
import { defaultsLayer, pullSecretOf } from './defaults.ts';
import { readFluxConfig } from './flux-config.ts';
import { documentsOf, type FluxConfigMap, isFluxConfigObject } from './flux-config-map.ts';
import { installDefaults } from './flux-options.ts';
import { inOrder } from './listed/read-objects.ts';
import { inside, issueAt, type Origins, type Place } from './origins.ts';
import { overridesOf } from './overrides.ts';
import { policyIssues } from './policy/judge.ts';
import { PULL_SECRET } from './project-config.ts';
import { type ProjectSecrets, projectSecretsOf, unknownSecretIssues, wired, wiredInstall } from './project-secrets.ts';
import { kustomizationIssues, readProviderConfig } from './provider-config.ts';
import { problemsOf } from './rules.ts';
import { resourcesByName } from './shoot-resources.ts';
import { defaultIntervals } from './templates.ts';
import {
  type Complete,
  type ConfigInputs,
  type EffectiveConfig,
  emptyLayer,
  type FluxInstall,
  type FluxOptions,
  type Landscape,
  type Layer,
  type Merged,
  type PlacedSecret,
  type PlacedTemplate,
  type SyncMode,
  type Template,
} from './types.ts';
import { asObject, type JsonObject } from './values.ts';
import { substituted } from './variables.ts';

/**
 * Merges the landscape's defaults, the ConfigMap `flux-config` of the project and the Shoot's own providerConfig,
 * validates the result, fills in every default, and applies the landscape's policy.
 * @throws ConfigError with everything that is wrong in any of them
 */
export function effectiveConfig(inputs: ConfigInputs): EffectiveConfig {
  return mergeLayers(inputs, readProviderConfig(inputs.providerConfig));
}

/** The same with a providerConfig that has been read already. */
export function mergeLayers(inputs: Omit<ConfigInputs, 'providerConfig'>, providerConfig: Layer): EffectiveConfig {
  const { landscape = {}, shoot } = inputs;
  // Read.
  const ofProject = projectLayers(inputs.fluxConfig, shoot?.labels);
  // `readLandscape` has checked the defaults.
  const layers = [providerConfig, ...ofProject.layers, defaultsLayer(landscape)];
  const project = projectSecretsOf(inputs);

  // Merge.
  const written = merged(layers, ofProject.flat);

  // Complete.
  const config = completed(written, project.secrets, inputs);
  const { flux, source, kustomization, objects, sourceSecret, pullSecret, origins } = config;
  const additional = additionalSecrets(config, project.secrets);

  // Check.
  const ownCopies = [sourceSecret?.secret, pullSecret].filter((copy) => copy !== undefined);
  const checked = problemsOf(config, [...additional.secrets, ...ownCopies]);
  const issues: ConfigIssue[] = [
    ...ofProject.issues,
    ...providerConfig.issues,
    ...config.issues,
    ...additional.issues,
    ...project.issues,
    ...unknownSecretIssues(inputs, written.sourceFrom, source, origins),
    ...checked.issues,
    ...(landscape.policy === undefined ? [] : policyIssues(landscape.policy, config, shoot)),
  ];
  // The operators may have changed the catalogue, which must not fail the Shoots of those who have written nothing new.
  if (issues.length > 0)
    throw new ConfigError(issues.map((issue) => (isOfAddon(issue) ? { ...issue, rule: ADDON_RULE } : issue)));
  const warnings = [...layers.flatMap((layer) => layer.warnings ?? []), ...config.addonWarnings, ...checked.warnings];
  const { syncMode, deletionPolicy, suspend, adopt, monitoring } = written.content;
  return {
    flux,
    syncMode: syncMode ?? defaultSyncMode(written, ofProject.layers),
    deletionPolicy,
    suspend: suspend ?? false,
    ...(adopt === true && { adopt }),
    ...(monitoring === true && { monitoring }),
    source,
    kustomization,
    objects,
    sourceSecret: sourceSecret?.secret,
    additionalSecrets: additional.secrets,
    ...(pullSecret && { pullSecret }),
    hasFluxConfig: inputs.fluxConfig !== undefined,
    origins,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** The layers of a project's `flux-config`. */
interface ProjectLayers {
  /** Highest first: the overrides that select the Shoot, `config.yaml`, and the other keys. */
  layers: Layer[];
  /** The other keys, with the objects of the first implementation. */
  flat: Layer;
  issues: ConfigIssue[];
}

/**
 * Reads the layers of `flux-config` for a Shoot.
 * @param labels of the Shoot; absent: no override is a layer, and the issues are those of all of them
 */
export function projectLayers(
  fluxConfig: FluxConfigMap | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): ProjectLayers {
  if (fluxConfig === undefined) {
    const flat = emptyLayer({ object: 'flux-config', path: '' });
    return { layers: [flat], flat, issues: [] };
  }
  const flat = readFluxConfig(fluxConfig);
  // Too long to be read, and its documents were not read either.
  if (!flat.isRead) return { layers: [flat], flat, issues: flat.issues };
  const documents = documentsOf(fluxConfig);
  const { place, value, issues: unread } = documents.config;
  const config = unread.length > 0 ? emptyLayer(place, unread) : readProviderConfig(value, place);
  const { overrides } = documents;
  const entries = labels === undefined ? overrides.entries : overridesOf(overrides, labels);
  const selected = entries.map((entry) => readProviderConfig(entry.config, entry.place));
  const issues = [flat, config, ...selected, overrides, documents.rollout].flatMap((one) => one.issues);
  return {
    layers: [...(labels === undefined ? [] : selected.toReversed()), config, flat],
    flat,
    issues: [...issues, ...repeatedKeys(flat, config)],
  };
}

/** A field that a key and `config.yaml` set: neither is higher, so one of them is a mistake. */
function repeatedKeys(flat: Layer, config: Layer): ConfigIssue[] {
  const keys = Object.entries(flat.origins);
  return Object.entries({ ...config.origins, ...patchOrigins(config) }).flatMap(([path, { object, path: written }]) => {
    const key = keys.find(([set]) => set === path || set.startsWith(`${path}.`))?.[1].path;
    if (key === undefined || path.includes('[')) return [];
    return [{ object, path: written, message: `is also set by the key ${key}; remove one of them` }];
  });
}

/**
 * Merges layers: each option, part and list is taken as a whole from the highest layer that sets it, valid or not. What
 * exists in the shoot anyway is collected from all layers, and patches change the Kustomization of a lower layer.
 * @param layers highest first
 * @param base the layer that counts where none sets a source or Kustomization
 */
function merged(layers: readonly Layer[], base: Layer): Merged {
  const sourceFrom = layers.find(({ sets }) => sets.source) ?? base;
  const kustomizationFrom = layers.find(({ sets }) => sets.kustomization) ?? base;
  const { kustomizations, ...patched } = patchedKustomization(layers, kustomizationFrom);
  const contents = layers.map(({ content }) => content);
  return {
    layers,
    sourceFrom,
    kustomizationFrom,
    content: {
      ...highest(contents),
      flux: highest(contents.map(({ flux }) => flux)),
      sources: sourceFrom.content.sources,
      kustomizations,
      existingSecrets: contents.flatMap(({ existingSecrets }) => existingSecrets ?? []),
      existingConfigMaps: contents.flatMap(({ existingConfigMaps }) => existingConfigMaps ?? []),
    },
    origins: { ...mergeOrigins(layers.map((layer) => layer.origins).reverse()), ...patched.origins },
    issues: patched.issues,
  };
}

/** Returns each field from the first object that has it. */
function highest<T extends object>(objects: readonly T[]): T {
  const fields = objects.toReversed().flatMap((object) => Object.entries(object));
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as T;
}

/**
 * Merges the origins of layers, lowest first: a layer decides every field that it sets, with everything below it. A field is
 * an option of the installation, or a whole part such as `source`.
 */
function mergeOrigins(layers: readonly Origins[]): Origins {
  const decided = new Map<string, [path: string, origin: Place][]>();
  for (const layer of layers) {
    const byField = Map.groupBy(Object.entries(layer), ([path]) => /^(flux\.)?\w+/.exec(path)?.[0] ?? path);
    for (const [field, origins] of byField) {
      // The order counts where two fields become one.
      decided.delete(field);
      decided.set(field, origins);
    }
  }
  // The effective list of components includes the extra ones.
  const entries = [...decided.values()].flat();
  return Object.fromEntries(
    entries.map(([path, origin]) => [path.replace(/^flux\.componentsExtra/, 'flux.components'), origin]),
  );
}

/**
 * Applies the patches of the layers above the one that sets the Kustomization, the lowest first. A patch below it has no
 * effect: a higher layer replaces the whole Kustomization.
 * @param layers highest first
 * @returns the Kustomizations, and where the patches set fields, by their paths in the effective configuration
 */
function patchedKustomization(layers: readonly Layer[], from: Layer) {
  const above = layers.slice(0, Math.max(0, layers.indexOf(from)));
  const patches = (from.sets.kustomization ? above : layers).filter(({ content }) => content.kustomizationPatch);
  const { kustomizations } = from.content;
  const [root, ...others] = kustomizations ?? [];
  if (!from.sets.kustomization) {
    const message = 'has no Kustomization to change, because no lower layer has one; use template instead of patch';
    const issues = patches.map((layer) => issueAt(layer, 'kustomization.patch', message));
    return { kustomizations, origins: {}, issues };
  }
  // An invalid template has been reported where it is.
  if (root === undefined || patches.length === 0) return { kustomizations, origins: {}, issues: [] };
  const { template, ...patched } = patchedBy(root.template, patches.toReversed());
  return { ...patched, kustomizations: [template && { ...root, template }, ...others] };
}

/** @param layers lowest first, each with a patch */
function patchedBy(template: Template, layers: readonly Layer[]) {
  const origins = Object.assign({}, ...layers.map(patchOrigins)) as Origins;
  const steps: { merged: JsonObject; layer: Layer }[] = [];
  for (const layer of layers)
    steps.push({ merged: mergePatch(steps.at(-1)?.merged ?? template, patchOf(layer)), layer });
  const last = steps.at(-1);
  if (last === undefined || issuesOf(last).length === 0)
    return { template: (last?.merged ?? template) as unknown as Template, origins, issues: [] };
  // The first patch after which it is wrong; a later one may have removed the mistake of an earlier one.
  const issues = steps.map(issuesOf).find((found) => found.length > 0) ?? [];
  return { template: undefined, origins, issues };
}

/** Returns what is wrong with the Kustomization once this layer's patch has changed it. */
function issuesOf({ merged, layer }: { merged: JsonObject; layer: Layer }): ConfigIssue[] {
  return kustomizationIssues(merged, inside(layer, 'kustomization.patch'));
}

function patchOf({ content }: Layer): JsonObject {
  return content.kustomizationPatch ?? {};
}

/** Returns where the patch of a layer sets fields; none without a patch. */
function patchOrigins(layer: Layer): Origins {
  const patch = patchOf(layer);
  const fields = ['metadata', 'spec'].flatMap((part) =>
    Object.keys(asObject(patch[part]) ?? {}).map((field) => `${part}.${field}`),
  );
  return Object.fromEntries(
    fields.map((field) => [`kustomization.${field}`, inside(layer, `kustomization.patch.${field}`)]),
  );
}

/** Merges a patch, as RFC 7386 says: objects field by field, null removes a field, everything else is replaced, lists too. */
function mergePatch(target: unknown, patch: JsonObject): JsonObject {
  const fields = { ...asObject(target) };
  for (const [name, value] of Object.entries(patch)) {
    const inner = asObject(value);
    if (value === null) delete fields[name];
    else fields[name] = inner === undefined ? value : mergePatch(fields[name], inner);
  }
  return fields;
}

const DEFAULT_NAME = 'flux-system';

/** The ServiceAccounts of the controllers that are administrators of the shoot. */
const ROOT_ACCOUNTS: Readonly<Record<string, string>> = {
  Kustomization: 'kustomize-controller',
  HelmRelease: 'helm-controller',
};

/** Fills in the defaults, adds references to Secrets of the project, and replaces variables by the values of the Shoot. */
function completed(merged: Merged, project: ProjectSecrets, inputs: ConfigInputs): Complete {
  const { landscape = {}, shoot, shootResources } = inputs;
  const { content, kustomizationFrom } = merged;
  const [rootSource, ...sources] = content.sources ?? [];
  const [root, ...kustomizations] = content.kustomizations ?? [];
  const flux = wiredInstall(completeInstall(content.flux, landscape), project);
  const issues = [...merged.issues];
  let { origins } = merged;
  const finished = (part: string, given: KubeObject): KubeObject => {
    const { object, issues: found } = substituted(part, wired(given, project, flux.namespace), shoot, origins);
    issues.push(...found);
    return object;
  };
  const source = rootSource && finished('source', completeObject(rootSource.template, flux));
  const isFlat = kustomizationFrom.path === '' && isFluxConfigObject(kustomizationFrom.object);
  const rootObject =
    root && source && completeObject(root.template, flux, rootFields(root.template, source, flux, isFlat));
  const kustomization = rootObject && finished('kustomization', rootObject);
  const brought = broughtByAddons(content.addons ?? [], inputs);
  issues.push(...brought.issues);
  const others = [...sources, ...kustomizations, ...(content.objects ?? []), ...brought.value].filter(
    (one) => one !== undefined,
  );
  const listed = inOrder(
    others.map((one) => {
      const object = completeObject(one.template, flux, defaultSourceRef(one.template, source));
      return { ...one, kind: object.kind, object };
    }),
  );
  const ofAddons = (content.addons ?? []).map(({ name, place }) => [addonPlace(name).object, place]);
  origins = {
    ...origins,
    ...Object.fromEntries(ofAddons),
    ...Object.fromEntries(listed.map(({ place }, index) => [`objects[${index}]`, place])),
  };
  const [sourceSecret] = source && rootSource ? credentialsOf(source, rootSource) : [];
  // Two sources may read one repository with the same credentials.
  const ofSources = listed
    .flatMap((one) => credentialsOf(one.object, one))
    .filter((one) => !isDeepStrictEqual(one.secret, sourceSecret?.secret));
  const secret = pullSecretOf(landscape.defaults);
  return {
    ...merged,
    flux,
    source,
    kustomization,
    objects: listed.map(({ object }, index) => finished(`objects[${index}]`, object)),
    sourceSecret,
    addonWarnings: brought.warnings,
    listedSecrets: [...new Map(ofSources.map((one) => [JSON.stringify(one.secret), one])).values()],
    pullSecret: secret && {
      origin: { type: 'landscape', secret },
      targetName: PULL_SECRET,
      namespace: flux.namespace,
    },
    shootResources: shootResources && resourcesByName(shootResources),
    origins,
    issues,
  };
}

/** Fills in the defaults of the installation. */
function completeInstall(given: FluxOptions, { defaults, policy }: Landscape): FluxInstall {
  const { componentsExtra = [], multiTenancy, ...options } = Object.assign({ ...installDefaults }, given);
  return {
    ...options,
    version: options.version === 'latest' ? undefined : options.version,
    components: [...new Set([...options.components, ...componentsExtra])],
    tolerationKeys: [...new Set(options.tolerationKeys)],
    // Absent where it is off: `false` that is written has the hash of the default.
    ...((multiTenancy ?? policy?.requireMultiTenancy) === true && { multiTenancy: true }),
    ...(pullSecretOf(defaults) !== undefined && { landscapePullSecret: PULL_SECRET }),
  };
}

/** Returns the copy of the credentials of a source, in its namespace, because Flux reads them only there. */
function credentialsOf(source: KubeObject, { secret: origin, place }: PlacedTemplate): PlacedSecret[] {
  const { secretRef } = source.spec as { secretRef?: { name: string } };
  if (origin === undefined || secretRef === undefined) return [];
  return [{ place, secret: { origin, targetName: secretRef.name, namespace: source.metadata.namespace ?? '' } }];
}

const HAS_INTERVAL: ReadonlySet<string> = new Set(['GitRepository', 'OCIRepository', 'Bucket', 'Kustomization']);

/**
 * Fills in the defaults of an object.
 * @param more further fields of its `spec`
 */
function completeObject(template: Template, flux: FluxInstall, more: object = {}): KubeObject {
  const { apiVersion = '', kind = 'Kustomization', metadata, spec } = template;
  const namespace = metadata?.namespace ?? flux.namespace;
  return {
    apiVersion,
    kind,
    metadata: {
      name: metadata?.name ?? DEFAULT_NAME,
      namespace,
      ...(metadata?.labels && { labels: metadata.labels }),
      ...(metadata?.annotations && { annotations: metadata.annotations }),
    },
    spec: {
      ...spec,
      ...(HAS_INTERVAL.has(kind) && { interval: spec.interval ?? defaultIntervals.template }),
      ...(kind === 'Kustomization' && { prune: spec.prune ?? false }),
      ...accountOf(kind, spec, namespace, flux),
      ...more,
    },
  };
}

/**
 * Returns what the root Kustomization gets besides; the missing fields of its sourceRef come from `source`. One with a
 * `decryption` of its own keeps it.
 * @param omitOwnNamespace omits the source's namespace if it is the Kustomization's own, as the first implementation
 *   did: the objects in its Shoots must not change
 */
function rootFields({ metadata, spec }: Template, source: KubeObject, flux: FluxInstall, omitOwnNamespace: boolean) {
  const { name, namespace } = source.metadata;
  const isOwn = namespace === (metadata?.namespace ?? flux.namespace);
  const decrypts = flux.sopsAgeSecret !== undefined && spec.decryption === undefined;
  return {
    sourceRef: {
      kind: source.kind,
      name,
      ...(omitOwnNamespace && isOwn ? {} : { namespace }),
      ...(spec.sourceRef as object | undefined),
    },
    ...(decrypts && { decryption: { provider: 'sops', secretRef: { name: flux.sopsAgeSecret } } }),
  };
}

/** Another Kustomization without a sourceRef reads the source of the root Kustomization. */
function defaultSourceRef({ kind = 'Kustomization', spec }: Template, source: KubeObject | undefined): object {
  if (kind !== 'Kustomization' || spec.sourceRef !== undefined || source === undefined) return {};
  return { sourceRef: { kind: source.kind, name: source.metadata.name, namespace: source.metadata.namespace } };
}

/**
 * With multi-tenancy a Kustomization without an account acts as `default`, which may do nothing. The root Kustomization
 * keeps the rights of its controller, which are in the controller's namespace and in the shoot itself.
 */
function accountOf(kind: string, spec: Template['spec'], namespace: string, flux: FluxInstall) {
  const { kubeConfig, serviceAccountName: own } = spec;
  const serviceAccountName = ROOT_ACCOUNTS[kind];
  const isOfController = flux.multiTenancy === true && namespace === flux.namespace && kubeConfig === undefined;
  return isOfController && serviceAccountName !== undefined && own === undefined ? { serviceAccountName } : {};
}

/**
 * An edit of the project's `flux-config` is meant for all of its Shoots; a providerConfig is written once for its own
 * (decision 52). Without a source, sources are among the objects, or addons bring them.
 */
function defaultSyncMode({ layers, sourceFrom }: Merged, ofProject: readonly Layer[]): SyncMode {
  const from = sourceFrom.sets.source
    ? sourceFrom
    : layers.find(({ content }) => (content.objects ?? content.addons) !== undefined);
  return from !== undefined && ofProject.includes(from) ? 'ManifestsOnly' : 'Once';
}
