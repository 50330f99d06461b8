import { behaviourChanges, behaviourText } from '../../shared/flux/behaviour-changes.ts';
import { compareVersions } from '../../shared/flux/versions.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Offline } from './offline.ts';

/** One sentence for each change that an upgrade to the rendered release brings, or why there is none. */
export function upgradeWarnings(from: string | undefined, { fluxVersion, components }: Offline): string[] {
  if (from === undefined) return [];
  if (compareVersions(from, fluxVersion) > 0) return [`${downgradeText(from, fluxVersion)}.`];
  return behaviourChanges(from, fluxVersion, components).map(behaviourText);
}

/** A Shoot refuses only what its sync mode makes it apply, so it is no error for all of them. */
function downgradeText(from: string, to: string): string {
  return `Flux ${from} is never downgraded, so a Shoot that runs it does not get Flux ${to}, and reports an error if its syncMode still applies Flux; use ${from} or a newer release`;
}

/** The Flux release of rendered objects; undefined when Flux is not among them. */
export function releaseOf(objects: readonly KubeObject[]): string | undefined {
  const ofFlux = objects.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] === 'flux');
  return ofFlux?.metadata.labels?.['app.kubernetes.io/version'];
}
