import { behaviourChanges, behaviourText } from '../../shared/flux/behaviour-changes.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { Offline } from './offline.ts';

/** One sentence for each change that an upgrade to the rendered release brings. */
export function upgradeWarnings(from: string | undefined, { fluxVersion, components }: Offline): string[] {
  return from === undefined ? [] : behaviourChanges(from, fluxVersion, components).map(behaviourText);
}

/** The Flux release of rendered objects; undefined when Flux is not among them. */
export function releaseOf(objects: readonly KubeObject[]): string | undefined {
  const ofFlux = objects.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/part-of'] === 'flux');
  return ofFlux?.metadata.labels?.['app.kubernetes.io/version'];
}
