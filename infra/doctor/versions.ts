import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import semver from 'semver';
import { FIRST as FIRST_GARDENER } from '../../functions/resource-manager-webhook/target-namespaces-flag.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { CHECKSUMS } from '../../shared/flux/release-files.ts';
import { type Notices, noticesOf, unsupportedAs } from '../../shared/flux/support.ts';
import { resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';
import { ageOf } from '../fleet/print.ts';
import { bad, type Finding, good, type Patient, unknown } from './finding.ts';
import { type ServedShoot, shootsHave } from './seeds.ts';

/** The conditions of our webhooks, and the policy for our Secrets, are in Kubernetes from this version on. */
const FIRST_KUBERNETES = '1.30.0';

/** Examines the Kubernetes of a cluster, and the Gardener of a seed. */
export async function versions({ kube, place }: Patient): Promise<Finding[]> {
  const kubernetes = textAt(await kube.ask('/version'), 'gitVersion');
  const first = judged('Kubernetes', kubernetes, FIRST_KUBERNETES, 'is the first with the conditions of the webhooks');
  if (place === 'garden') return [first];
  // gardenlet copies the whole Seed into each Cluster.
  const { items } = await kube.list(resources.clusters, { limit: 1 });
  const gardener = textAt(items[0]?.spec, 'seed', 'status', 'gardener', 'version');
  const why = 'is the first whose resource-managers write to the namespaces of Flux';
  return [first, judged('Gardener', gardener, FIRST_GARDENER, why)];
}

function judged(what: string, version: string | undefined, first: string, why: string): Finding {
  const parsed = semver.parse(version);
  if (version === undefined || parsed === null) return unknown(`The version of ${what} is not known`);
  if (semver.gte(`${parsed.major}.${parsed.minor}.${parsed.patch}`, first)) return good(`It runs ${what} ${version}`);
  return bad(`It runs ${what} ${version}; upgrade it, because ${first} ${why}`);
}

/** Flux releases a patch about each month. */
const OLD_MS = 90 * 86_400_000;

/**
 * Examines the releases of the distribution: their age, and what they mean for the Shoots.
 * @param source the distribution as the operator names it: its folder, or an artifact
 */
export async function distribution(
  dir: string,
  shoots: readonly ServedShoot[],
  now: Date,
  source = dir,
): Promise<Finding[]> {
  const available = (await openDistribution(dir).versions()).filter((version) => semver.prerelease(version) === null);
  // What is pulled is never changed: its folder is made elsewhere, and pushed.
  const target = source.startsWith('oci://') ? 'DIR' : source;
  const make = (version: string) =>
    `shoot-flux distribution make --flux-distribution ${target} --from-release ${version}`;
  const [newest] = available;
  if (newest === undefined) return [bad(`${source} holds no stable Flux release`, make('vX.Y.Z'))];
  const { mtime } = await stat(join(dir, newest, CHECKSUMS));
  return [
    ageFinding(newest, mtime, now, make('vX.Y.Z')),
    ...supportOf(available, shoots, make),
    ...noticed(available, shoots),
  ];
}

function ageFinding(newest: string, added: Date, now: Date, make: string): Finding {
  const look = 'compare it with https://github.com/fluxcd/flux2/releases';
  const release = `The newest Flux release is ${newest}`;
  // Images have files without a time.
  if (added.getUTCFullYear() < 2020) return unknown(`${release}, its files have no date; ${look}`);
  const age = `${release}, added ${ageOf(added.toISOString(), now)} ago`;
  return now.getTime() - added.getTime() > OLD_MS ? unknown(`${age}; ${look}`, make) : good(age);
}

function supportOf(available: string[], shoots: readonly ServedShoot[], make: (version: string) => string): Finding[] {
  const byMinor = Map.groupBy(shoots, ({ kubernetes }) => kubernetes.split('.').slice(0, 2).join('.'));
  const findings = [...byMinor].flatMap(([minor, some]) => {
    const states = available.map((version) => unsupportedAs(version, minor));
    if (states.includes(undefined)) return [];
    const flux = `v2.${Number(minor.split('.')[1]) - 25}.X`;
    const what = `${shootsHave(some)} Kubernetes ${minor}, which no Flux release in the distribution supports`;
    return states.includes('new')
      ? [unknown(`${what} yet; add a newer one`, make(flux))]
      : [bad(`${what} any more; upgrade Kubernetes, or add an older release`, make(flux))];
  });
  if (findings.length > 0 || shoots.length === 0) return findings;
  return [good(`Its releases support the Kubernetes of all ${shoots.length} Shoots`)];
}

const NOTICES: Record<keyof Notices, string> = {
  patch: 'a Flux release that lacks the fixes of a newer patch in the distribution',
  minor: 'a Flux release whose minor version is no longer maintained',
  kubernetes: 'a Kubernetes that the installed Flux release does not support',
};

/** Says which Shoots should get another release; each line of `flux-status` names the key that asks for the present one. */
function noticed(available: string[], shoots: readonly ServedShoot[]): Finding[] {
  const all = shoots.map((shoot) => ({ shoot, notices: noticesOf(shoot.flux ?? '', available, shoot.kubernetes) }));
  return (Object.keys(NOTICES) as (keyof Notices)[]).flatMap((reason) => {
    const some = all.filter(({ notices }) => notices[reason] !== undefined).map(({ shoot }) => shoot);
    if (some.length === 0) return [];
    return [unknown(`${shootsHave(some)} ${NOTICES[reason]}`, 'shoot-flux status --all-namespaces -o wide')];
  });
}
