import { isOfAddon } from '../../shared/config/addons.ts';
import { effectiveConfig } from '../../shared/config/effective-config.ts';
import { originOf } from '../../shared/config/origins.ts';
import {
  FORMER_TARGET_NAMESPACE,
  isTargetNamespaceOpen,
  TARGET_NAMESPACE_CHOICE,
} from '../../shared/config/target-namespace.ts';
import type { CopiedSecret, EffectiveConfig } from '../../shared/config/types.ts';
import { ConfigError, issueText } from '../../shared/errors.ts';
import { behaviourChanges, behaviourText } from '../../shared/flux/behaviour-changes.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { objectRuleIssues } from '../../shared/flux/object-rules.ts';
import type { ObjectGroups } from '../../shared/flux/release.ts';
import { compareVersions, resolveVersion } from '../../shared/flux/versions.ts';
import { objectGroups } from '../../shared/gardener/groups.ts';
import { ipv6Warnings } from '../../shared/gardener/ipv6-only.ts';
import { shootFacts } from '../../shared/gardener/shoot-facts.ts';
import type { Shoot } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { releasesOf } from './distribution-inspect.ts';
import { type CliInputs, otherNamespaces, shootCluster } from './inputs.ts';
import { givenSecretIssues } from './secrets.ts';

/** A Shoot's objects, as far as they are known without a cluster. */
export interface Offline {
  groups: ObjectGroups;
  /** One sentence for each further object, whose content is known only in the landscape. */
  unknown: string[];
  /** One sentence for each field of the configuration that is left out, and for what is wrong with the Flux release. */
  warnings: string[];
  fluxVersion: string;
  components: string[];
  /** Says of each object that an addon brings which one, and where it is listed; by `addonKey`. */
  ofAddons: ReadonlyMap<string, string>;
}

/** Identifies an object, whatever the version of its API. */
export function addonKey({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}

/** Computes a Shoot's objects from its configuration, without a cluster. @throws ConfigError with every issue */
export async function renderOffline({
  distribution,
  config: inputs,
  shoot,
  secrets: given,
}: CliInputs): Promise<Offline> {
  const config = effectiveConfig(inputs);
  const releases = openDistribution(distribution);
  const { version, warnings: ofVersion = [] } = resolveVersion({
    requested: config.flux.version,
    origin: originOf(config.origins, 'flux.version'),
    available: await releasesOf(releases, distribution),
    kubernetesVersion: shoot?.spec?.kubernetes?.version,
    mayUpgrade: true,
    isTrial: true,
    policy: inputs.landscape?.policy,
  });
  // All Secrets of the project are given, so what nothing copies is missing.
  const undelivered = (config.warnings ?? []).filter(({ mayBeElsewhere }) => mayBeElsewhere === true);
  const ofSecrets =
    given === undefined ? [] : [...givenSecretIssues(config, given, version, inputs.shootResources), ...undelivered];
  if (ofSecrets.length > 0) throw new ConfigError(ofSecrets);
  const release = await releases.release(version);
  const groups = await objectGroups({
    config,
    release,
    shoot: shootFacts(shootCluster(shoot ?? unnamedShoot), {}),
    secrets: [],
    configMaps: [],
    ownsNamespace: true,
    shootHealth: true,
    policy: inputs.landscape?.policy,
  });
  const broken = await objectRuleIssues(config, release);
  if (broken.length > 0) throw new ConfigError(broken);
  const secrets = shoot === undefined ? groups.secrets.filter(({ kind }) => kind !== 'ConfigMap') : groups.secrets;
  const { ofShoot, ofConfig } = otherNamespaces(shoot?.metadata.namespace, inputs) ?? {};
  const ofNetwork = shoot === undefined ? [] : ipv6Warnings(config, shoot);
  const warned = [...ofVersion, ...ofNetwork, ...(config.warnings ?? [])];
  const elsewhere = `the Shoot is in namespace ${ofShoot}, where the ConfigMap flux-config of ${ofConfig} does not count`;
  return {
    groups: { ...groups, secrets },
    unknown: unknownObjects(config, shoot),
    warnings: [
      ...(ofShoot === undefined ? [] : [elsewhere]),
      ...warned.map(issueText),
      ...(shoot?.status?.lastOperation !== undefined && isTargetNamespaceOpen(config) ? [maybeKept(shoot)] : []),
    ],
    fluxVersion: version,
    components: config.flux.components,
    ofAddons: ofAddons(config),
  };
}

function ofAddons({ objects, origins }: EffectiveConfig): Map<string, string> {
  const found = objects.flatMap((object, index): [string, string][] => {
    const brought = originOf(origins, `objects[${index}]`);
    if (!isOfAddon(brought)) return [];
    const listed = originOf(origins, brought.object);
    return [[addonKey(object), `${brought.object}, listed at ${listed.path} of ${listed.object}`]];
  });
  return new Map(found);
}

/** Only the landscape knows what a Shoot runs with. */
function maybeKept({ metadata }: Shoot): string {
  const kept = `if the Kustomization main-ks of Shoot ${metadata.name} runs with targetNamespace ${FORMER_TARGET_NAMESPACE}, it keeps it`;
  return `${kept}; ${TARGET_NAMESPACE_CHOICE}.`;
}

const unnamedShoot: Shoot = { metadata: { name: '' } };

function unknownObjects(config: EffectiveConfig, shoot: Shoot | undefined): string[] {
  const copied = [config.pullSecret, config.sourceSecret, ...config.additionalSecrets];
  const copies = copied.flatMap((copy) => (copy === undefined ? [] : [sentence(copy, shoot)]));
  if (shoot !== undefined) return copies;
  const { namespace } = config.flux;
  return [...copies, `ConfigMaps ${namespace}/shoot-info and ${namespace}/shoot-facts; pass --shoot to see them.`];
}

function sentence({ namespace, targetName, origin }: CopiedSecret, shoot: Shoot | undefined): string {
  if (origin.type === 'flux-source')
    return `Secret ${namespace}/${targetName}: a copy of the garden Secret flux-source.`;
  if (origin.type === 'landscape')
    return `Secret ${namespace}/${targetName}: the landscape's pull secret, a copy of ${origin.secret.namespace}/${origin.secret.name} in the ${origin.secret.in}.`;
  if (origin.type === 'project')
    return `Secret ${namespace}/${targetName}: a copy of the garden Secret ${origin.name}.`;
  const { resourceName } = origin;
  const entry = shoot?.spec?.resources?.find(({ name }) => name === resourceName)?.resourceRef;
  const kind = entry?.kind === 'ConfigMap' ? 'ConfigMap' : 'Secret';
  const name = targetName ?? entry?.name ?? `(with the name of the ${kind})`;
  const content =
    entry?.kind === 'WorkloadIdentity'
      ? `a token of the WorkloadIdentity that is the resource "${resourceName}" of the Shoot.`
      : `a copy of the resource "${resourceName}" of the Shoot.`;
  return `${kind} ${namespace}/${name}: ${content}`;
}

/** One sentence for each change that an upgrade to the rendered release brings, or why there is none. */
export function upgradeWarnings(from: string | undefined, { fluxVersion, components }: Offline): string[] {
  if (from === undefined) return [];
  if (compareVersions(from, fluxVersion) <= 0)
    return behaviourChanges(from, fluxVersion, components).map(behaviourText);
  // A Shoot refuses only what its sync mode makes it apply, so it is no error for all of them.
  return [
    `Flux ${from} is never downgraded, so a Shoot that runs it does not get Flux ${fluxVersion}, and reports an error if its syncMode still applies Flux; use ${from} or a newer release.`,
  ];
}

/** The Flux release of rendered objects; undefined when Flux is not among them. */
export function releaseOf(objects: readonly KubeObject[]): string | undefined {
  const ofFlux = objects.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] === 'flux');
  return ofFlux?.metadata.labels?.['app.kubernetes.io/version'];
}
