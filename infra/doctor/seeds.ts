import { FLUX_STATUS } from '../../shared/config/project-config.ts';
import { isSelfHosted, selfHostedCluster } from '../../shared/gardener/shoot-changes.ts';
import { isOwn, linesOf } from '../../shared/gardener/status-map.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ForbiddenError, unless } from '../../shared/kube/errors.ts';
import { objectsOf } from '../../shared/kube/pages.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { entriesAt, fieldsAt, textAt } from '../../shared/shapes.ts';
import { WITH_EXTENSION } from '../fleet/fleet.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { HEARTBEAT } from '../process/heartbeat.ts';
import { bad, type Deployment, type Finding, good, type Patient, unknown } from './finding.ts';

/** A Shoot with the extension. */
export interface ServedShoot {
  /** With the namespace of its project. */
  name: string;
  /** Of one that hosts itself, the name of its own cluster; empty for one that is on none yet. */
  seed: string;
  kubernetes: string;
  /** The Flux release that its line in `flux-status` names; undefined: none, or these credentials do not show it. */
  flux?: string | undefined;
}

/** Reads a few fields of each Shoot with the extension: no page of them is kept. */
export async function readShoots(garden: KubeClient): Promise<ServedShoot[]> {
  const shoots: ServedShoot[] = [];
  const releases = await unless(fluxReleases(garden), ForbiddenError);
  const listed = objectsOf(garden, resources.shoots, { labelSelector: WITH_EXTENSION });
  for await (const { metadata, spec, status } of listed) {
    const own = isSelfHosted({ spec }) ? selfHostedCluster(metadata) : '';
    const seed = textAt(status, 'seedName') ?? textAt(spec, 'seedName') ?? own;
    const kubernetes = textAt(spec, 'kubernetes', 'version') ?? '';
    const name = `${metadata.namespace}/${metadata.name}`;
    shoots.push({ name, seed, kubernetes, flux: releases?.get(name) });
  }
  return shoots;
}

/** Reads the Flux release of each Shoot in the lines of `flux-status`. */
async function fluxReleases(garden: KubeClient): Promise<Map<string, string | undefined>> {
  const releases = new Map<string, string | undefined>();
  const maps = objectsOf(garden, resources.configMaps, { fieldSelector: `metadata.name=${FLUX_STATUS}` });
  for await (const map of maps) {
    if (!isOwn(map)) continue;
    for (const [shoot, { flux }] of linesOf(map)) releases.set(`${map.metadata.namespace}/${shoot}`, flux);
  }
  return releases;
}

/** Begins a sentence about Shoots: `2 Shoots, such as garden-foo/a, have`. */
export function shootsHave(shoots: readonly ServedShoot[]): string {
  const [first] = shoots;
  return shoots.length === 1 ? `Shoot ${first?.name} has` : `${shoots.length} Shoots, such as ${first?.name}, have`;
}

const installations = { ...resources.projects, plural: 'controllerinstallations', kind: 'ControllerInstallation' };

/** Asks whether each seed with our Shoots is served: by an installation of gardenlet, or by what `--seed` names. */
export async function servedSeeds(garden: Patient, { shoots, seeds }: Deployment): Promise<Finding | Finding[]> {
  // Awaited first: a failure that nobody awaits would end the process.
  const bySeed = Map.groupBy(await shoots, ({ seed }) => seed);
  // Nobody has to serve a Shoot that is on no seed.
  bySeed.delete('');
  const ours: KubeObject[] = [];
  for await (const item of objectsOf(garden.kube, installations))
    if (textAt(item.spec, 'registrationRef', 'name')?.includes(EXTENSION_TYPE)) ours.push(item);
  const served = [...seeds, ...ours.flatMap(hostsOf)];
  const unserved = [...bySeed].flatMap(([seed, some]) => {
    if (served.includes(seed)) return [];
    const sentence = `Nobody serves seed ${seed}: ${shootsHave(some)} the extension there, and it has no ControllerInstallation; add it to the seeds of a deployment`;
    return [bad(sentence, kubectl(['get', 'controllerinstallations'], garden))];
  });
  const wrong = [...unserved, ...ours.flatMap((installation) => unhealthy(garden, installation))];
  if (wrong.length > 0) return wrong;
  return good(`Each of the ${bySeed.size} seeds that have Shoots with the extension is served`);
}

/** Returns the names of the seed and of the self-hosted Shoot in which an installation runs: both where they are one cluster. */
function hostsOf({ spec }: KubeObject): string[] {
  const seed = textAt(spec, 'seedRef', 'name');
  const [namespace = '', name] = [textAt(spec, 'shootRef', 'namespace'), textAt(spec, 'shootRef', 'name')];
  return [
    ...(seed === undefined ? [] : [seed]),
    ...(name === undefined ? [] : [selfHostedCluster({ namespace, name })]),
  ];
}

function unhealthy(garden: Patient, installation: KubeObject): Finding[] {
  const wrong = entriesAt(installation, 'status', 'conditions').find(
    ({ type, status }) => (type === 'Installed' || type === 'Healthy') && status !== 'True',
  );
  if (wrong === undefined) return [];
  const { name } = installation.metadata;
  const sentence = `ControllerInstallation ${name} of seed ${hostsOf(installation).join(' and ')} is not ${wrong.type}: ${wrong.message}`;
  return [bad(sentence, kubectl(['get', 'controllerinstallation', name, '-o', 'yaml'], garden))];
}

/** As gardenlet: after this time it considers an extension gone. */
const OLD_LEASE_MS = 300_000;

/** Looks for what serves a seed: Deployments of the chart, and the heartbeats of processes elsewhere. */
export async function servers(seed: Patient, { now }: Deployment): Promise<Finding> {
  const labelSelector = `app.kubernetes.io/name=${EXTENSION_TYPE},app.kubernetes.io/component=controller`;
  const [deployments, leases] = await Promise.all([
    seed.kube.list(resources.deployments, { labelSelector, limit: 50 }),
    seed.kube.list(resources.leases, { fieldSelector: `metadata.name=${HEARTBEAT}`, limit: 500 }),
  ]);
  const beats = leases.items.filter((lease) => textAt(lease, 'spec', 'holderIdentity') === EXTENSION_TYPE);
  const isFresh = (lease: KubeObject) =>
    now.getTime() - Date.parse(textAt(lease, 'spec', 'renewTime') ?? '') < OLD_LEASE_MS;
  const running = deployments.items.filter(({ spec }) => fieldsAt(spec)?.replicas !== 0);
  const places = [...new Set([...running, ...beats.filter(isFresh)].map(({ metadata }) => metadata.namespace ?? ''))];
  if (places.length > 1) {
    const sentence = `It is served by ${places.length} deployments, in namespaces ${places.sort().join(' and ')}: give it to one`;
    const get = ['get', 'deployments', '--all-namespaces', '--selector', labelSelector];
    return bad(sentence, kubectl(get, seed));
  }
  if (places.length === 1) return good(`The deployment in namespace ${places[0]} serves it`);
  const [stale] = beats;
  if (stale === undefined)
    return unknown(
      'No Deployment and no heartbeat says which process serves it, as with one elsewhere without --shoot-health',
    );
  const { namespace = '' } = stale.metadata;
  const sentence = `Nobody serves it: the heartbeat in namespace ${namespace} was renewed last at ${textAt(stale, 'spec', 'renewTime')}`;
  return bad(sentence, kubectl(['get', 'pods'], { ...seed, namespace }));
}
