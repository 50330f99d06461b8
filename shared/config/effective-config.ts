import { ConfigError, type ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { additionalSecrets } from './additional-secrets.ts';
import { defaultsLayer, pullSecretOf } from './defaults.ts';
import { installDefaults } from './flux-options.ts';
import { patchedKustomization } from './kustomization-patch.ts';
import { absentLayer, type FluxOptions, type Layer } from './layer.ts';
import { layerIssues, type MergedLayers } from './layer-rules.ts';
import { type Listed, type ListedInputs, listedProblems, mergeListed } from './listed/lists.ts';
import { secretWarnings } from './listed/secret-rules.ts';
import { completeKustomization, completeSource } from './objects.ts';
import { mergeOrigins } from './origins.ts';
import { hostKeyIssues, objectIssues, policyIssues } from './policy/judge.ts';
import { PULL_SECRET } from './project-config.ts';
import { projectLayers } from './project-layers.ts';
import { projectSecretsOf, unknownSecretIssues, wired, wiredInstall } from './project-secrets.ts';
import { PROVIDER_CONFIG, readProviderConfig } from './provider-config.ts';
import type {
  ConfigInputs,
  CopiedSecret,
  EffectiveConfig,
  FluxInstall,
  Landscape,
  ShootTraits,
  SyncMode,
} from './types.ts';
import { hasOpenUrl, substituted } from './variables.ts';

/**
 * Merges the landscape's defaults, the ConfigMap `flux-config` of the project and the Shoot's own providerConfig,
 * validates the result, fills in every default, and applies the landscape's policy.
 * @throws ConfigError with everything that is wrong in any of them
 */
export function effectiveConfig(inputs: ConfigInputs): EffectiveConfig {
  return mergeLayers(inputs, providerConfigLayer(inputs.providerConfig));
}

/** Returns the layer of a providerConfig, which may be absent. */
export function providerConfigLayer(value: unknown): Layer {
  return value === undefined || value === null ? absentLayer(PROVIDER_CONFIG) : readProviderConfig(value);
}

/** The same with a providerConfig that has been read already. */
export function mergeLayers(inputs: Omit<ConfigInputs, 'providerConfig'>, providerConfig: Layer): EffectiveConfig {
  const { landscape = {}, shoot, shootResources } = inputs;
  const fluxConfig = projectLayers(inputs.fluxConfig, shoot?.labels);
  const { flat } = fluxConfig;
  const defaults = defaultsLayer(landscape);
  // Highest first.
  const layers = [providerConfig, ...fluxConfig.layers, defaults];
  const project = projectSecretsOf(inputs);
  const flux = wiredInstall(mergeOptions(layers, landscape), project.secrets);
  const from = {
    layers,
    sourceFrom: layers.find(({ sets }) => sets.source) ?? flat,
    kustomizationFrom: layers.find(({ sets }) => sets.kustomization) ?? flat,
    flux,
    wire: (object: KubeObject) => wired(object, project.secrets, flux.namespace),
  };
  const { issues: issuesOfRoot, ...root } = rootPair(from, flat, shoot);
  const { source, kustomization } = root;
  const sourceSecret = source && copiedSourceSecret(source, from.sourceFrom);
  const pullSecret = copiedPullSecret(landscape, flux);
  const parts = { ...from, ...root, shootResources, sourceSecret };
  const lists = layers.some(hasLists) ? listedObjects(parts, shoot) : undefined;
  const objects = lists?.listed.objects.map(({ object }) => object) ?? [];
  const additionalFrom = layers.find(({ content }) => content.additionalSecrets.length > 0) ?? flat;
  const additional = additionalSecrets(additionalFrom.content.additionalSecrets, {
    fluxNamespace: flux.namespace,
    users: [source, kustomization, ...objects].filter((user) => user !== undefined),
    sourceSecret,
    pullSecret,
    project: project.secrets,
    imagePullSecret: flux.imagePullSecret,
    shootResources,
  });
  const copies = [...additional.secrets, ...(lists?.listed.secrets.map(({ secret }) => secret) ?? [])];
  const ownCopies = [sourceSecret, pullSecret].filter((copy) => copy !== undefined);
  const checked = lists && listedProblems(parts, lists.listed, [...additional.secrets, ...ownCopies]);
  const merged = { ...parts, origins: { ...root.origins, ...lists?.listed.origins }, objects };
  const warnings = [
    ...layers.flatMap((layer) => layer.warnings ?? []),
    ...(checked?.warnings ?? []),
    ...secretWarnings(merged, {
      fluxNamespace: flux.namespace,
      copies: [...copies, ...ownCopies],
      existingSecrets: layers.flatMap(({ content }) => content.existingSecrets ?? []),
      existingConfigMaps: layers.flatMap(({ content }) => content.existingConfigMaps ?? []),
      shootResources,
    }),
  ];
  const issues: ConfigIssue[] = [
    ...fluxConfig.issues,
    ...providerConfig.issues,
    // A function on Lambda has checked them without their lists.
    ...defaults.issues,
    ...issuesOfRoot,
    ...(lists?.issues ?? []),
    ...layerIssues({ ...merged, providerConfig }),
    ...additional.issues,
    ...project.issues,
    ...unknownSecretIssues(inputs, from.sourceFrom, source, root.origins),
    ...(checked?.issues ?? []),
    ...judge(merged, landscape, shoot),
  ];
  if (issues.length > 0) throw new ConfigError(issues);
  const first = <K extends 'syncMode' | 'deletionPolicy' | 'suspend' | 'adopt'>(field: K) =>
    layers.find(({ content }) => content[field] !== undefined)?.content[field];
  return {
    flux,
    syncMode: first('syncMode') ?? defaultSyncMode(layers, from.sourceFrom, fluxConfig.layers),
    deletionPolicy: first('deletionPolicy'),
    suspend: first('suspend') ?? false,
    ...(first('adopt') === true && { adopt: true }),
    source,
    kustomization,
    objects,
    sourceSecret,
    additionalSecrets: copies,
    ...(pullSecret && { pullSecret }),
    hasFluxConfig: inputs.fluxConfig !== undefined,
    origins: merged.origins,
    ...(warnings.length > 0 && { warnings }),
  };
}

/** Completes the source and the root Kustomization, and replaces their variables by the values of the Shoot. */
function rootPair(
  {
    layers,
    sourceFrom,
    kustomizationFrom,
    flux,
    wire,
  }: Pick<ListedInputs, 'layers' | 'sourceFrom' | 'kustomizationFrom' | 'flux' | 'wire'>,
  flat: Layer,
  shoot: ShootTraits | undefined,
) {
  const { template, ...patched } = patchedKustomization(layers, kustomizationFrom);
  const origins = { ...mergeOrigins(layers.map((layer) => layer.origins).reverse()), ...patched.origins };
  const givenSource = sourceFrom.content.source && completeSource(sourceFrom.content.source.template, flux.namespace);
  const ofSource = substituted('source', givenSource && wire(givenSource), shoot, origins);
  const source = ofSource.object;
  const given = template && source && completeKustomization(template, source, flux, kustomizationFrom === flat);
  const ofKustomization = substituted('kustomization', given && wire(given), shoot, origins);
  const issues = [...patched.issues, ...ofSource.issues, ...ofKustomization.issues];
  return { source, kustomization: ofKustomization.object, origins, issues };
}

/** Merges the lists, and replaces the variables of their objects by the values of the Shoot. */
function listedObjects(
  inputs: ListedInputs,
  shoot: ShootTraits | undefined,
): { listed: Listed; issues: ConfigIssue[] } {
  const written = mergeListed(inputs);
  const results = written.objects.map(({ object, place }, index) => ({
    ...substituted(`objects[${index}]`, object, shoot, written.origins),
    place,
  }));
  return {
    listed: { ...written, objects: results.map(({ object, place }) => ({ object, place })) },
    issues: results.flatMap(({ issues }) => issues),
  };
}

/**
 * An edit of the project's `flux-config` is meant for all of its Shoots; a providerConfig is written once for its own
 * (decision 52). Without a source, sources are among the objects.
 */
function defaultSyncMode(layers: readonly Layer[], sourceFrom: Layer, ofProject: readonly Layer[]): SyncMode {
  const from = sourceFrom.sets.source ? sourceFrom : layers.find(({ content }) => content.objects !== undefined);
  return from !== undefined && ofProject.includes(from) ? 'ManifestsOnly' : 'Once';
}

function hasLists({ content: { objects, moreSources, moreKustomizations } }: Layer): boolean {
  return [objects, moreSources, moreKustomizations].some((list) => list !== undefined);
}

/** Returns what the policy of the landscape refuses in the result, from whichever layer it comes. */
function judge(
  {
    layers,
    sourceFrom,
    flux,
    source,
    objects,
    origins,
  }: Omit<MergedLayers, 'providerConfig'> & { objects: KubeObject[] },
  { policy }: Landscape,
  shoot: ShootTraits | undefined,
): ConfigIssue[] {
  if (policy === undefined || layers.some(({ isRead }) => !isRead)) return [];
  const { knownHosts } = sourceFrom;
  // A URL whose variables have no values yet is judged with them; the positions of the other objects stay.
  const isOpen = (object: KubeObject | undefined) => hasOpenUrl(object, shoot);
  const judgeable = objects.map((object) => (isOpen(object) ? { ...object, kind: '' } : object));
  return [
    ...policyIssues(policy, { flux, source: isOpen(source) ? undefined : source, origins }),
    ...(objects.length === 0 ? [] : objectIssues(policy, judgeable, source, origins)),
    ...hostKeyIssues(policy, knownHosts, sourceFrom.object),
  ];
}

/** Merges option by option: the defaults, and the layers from the lowest to the highest. */
function mergeOptions(layers: readonly Layer[], { defaults, policy }: Landscape): FluxInstall {
  const { componentsExtra, multiTenancy, ...options }: FluxOptions & typeof installDefaults = Object.assign(
    { ...installDefaults },
    ...layers.map(({ content }) => definedOnly(content.flux)).reverse(),
  );
  return {
    ...options,
    version: options.version === 'latest' ? undefined : options.version,
    components: [...new Set([...options.components, ...(componentsExtra ?? [])])],
    tolerationKeys: [...new Set(options.tolerationKeys)],
    // Absent where it is off: `false` that is written has the hash of the default.
    ...((multiTenancy ?? policy?.requireMultiTenancy) === true && { multiTenancy: true }),
    ...(pullSecretOf(defaults) !== undefined && { landscapePullSecret: PULL_SECRET }),
  };
}

/** Returns the copy of the landscape's pull secret, beside the controllers that use it. */
function copiedPullSecret({ defaults }: Landscape, { namespace }: FluxInstall): CopiedSecret | undefined {
  const secret = pullSecretOf(defaults);
  return secret && { origin: { type: 'landscape', secret }, targetName: PULL_SECRET, namespace };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops undefined fields, so that spreading the result overwrites nothing. */
function definedOnly<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Returns the copy of the credentials, in the namespace of the source, because Flux reads them only there. */
function copiedSourceSecret(source: KubeObject, { content }: Layer): CopiedSecret | undefined {
  const origin = content.source?.secret;
  const { secretRef } = source.spec as { secretRef?: { name: string } };
  if (origin === undefined || secretRef === undefined) return undefined;
  return { origin, targetName: secretRef.name, namespace: source.metadata.namespace ?? '' };
}
