import { compareVersions } from './versions.ts';

/** Something that works differently from a Flux release on, although no manifest has changed. */
interface BehaviourChange {
  /** The first release with it. */
  release: string;
  /** The first release without it again. */
  until?: string;
  /** It matters only where this component is installed. */
  component: string;
  /** One sentence, without its full stop. */
  change: string;
  /** What to do about it; part of the same sentence. */
  remedy: string;
}

/** Kinds that lose API versions with a minor. Stored objects are migrated; manifests in repositories are not ours. */
const dropped = (
  release: string,
  component: string,
  kinds: string,
  versions: string,
  next: string,
): BehaviourChange => ({
  ...{ release, component },
  change: `the API no longer has ${versions} of ${kinds}`,
  remedy: `write ${next} in the manifests of your repositories`,
});
const sources = 'GitRepository, HelmRepository, HelmChart and Bucket';
const images = 'ImageRepository and ImagePolicy';
const notifications = 'Alert, Provider and Receiver';
const notificationVersions = 'v1 for Receiver, v1beta3 for Alert and Provider';

/** From the release notes of Flux, oldest first (docs/flux-facts.md). */
export const allBehaviourChanges: readonly BehaviourChange[] = [
  dropped('v2.7.0', 'source-controller', sources, 'v1beta1', 'v1'),
  dropped('v2.7.0', 'kustomize-controller', 'Kustomization', 'v1beta1', 'v1'),
  dropped('v2.7.0', 'helm-controller', 'HelmRelease', 'v2beta1', 'v2'),
  dropped('v2.7.0', 'notification-controller', notifications, 'v1beta1', notificationVersions),
  dropped('v2.7.0', 'image-reflector-controller', images, 'v1beta1', 'v1'),
  dropped('v2.7.0', 'image-automation-controller', 'ImageUpdateAutomation', 'v1beta1', 'v1'),
  {
    ...{ release: 'v2.7.0', component: 'image-reflector-controller' },
    change: 'the flags that log in to the registries of cloud providers are gone',
    remedy: 'set spec.provider in each ImageRepository of such a registry',
  },
  dropped('v2.8.0', 'source-controller', `${sources.replace(' and', ',')} and OCIRepository`, 'v1beta2', 'v1'),
  dropped('v2.8.0', 'kustomize-controller', 'Kustomization', 'v1beta2', 'v1'),
  dropped('v2.8.0', 'helm-controller', 'HelmRelease', 'v2beta2', 'v2'),
  {
    ...{ release: 'v2.8.0', component: 'helm-controller' },
    change:
      'HelmReleases are installed by Helm 4, which applies new ones with server-side apply and waits for custom resources, too',
    remedy: 'try your charts in a Shoot for tests first',
  },
  {
    ...{ release: 'v2.9.0', component: 'kustomize-controller' },
    change: 'a Kustomization with postBuild fails on a variable that has neither a value nor a default',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Flux.
    remedy: 'give each such variable a value, or a default as in ${name:=default}',
  },
  {
    ...{ release: 'v2.9.0', until: 'v2.9.1', component: 'kustomize-controller' },
    change: 'a Kustomization with postBuild that applies the manifests of Flux fails on the text of its CRDs',
    remedy: 'install v2.9.1 or newer',
  },
  {
    ...{ release: 'v2.9.0', component: 'helm-controller' },
    change: 'the postRenderers of a HelmRelease also change the hooks of its chart',
    remedy: 'set spec.postRenderStrategy to nohooks to keep the hooks as they are',
  },
  {
    ...{ release: 'v2.9.0', component: 'notification-controller' },
    change: 'a Receiver of the type gcr needs the keys email and audience in its Secret',
    remedy: 'add both keys before the upgrade',
  },
  dropped('v2.9.0', 'notification-controller', notifications, 'v1beta2', notificationVersions),
  dropped('v2.9.0', 'image-reflector-controller', images, 'v1beta2', 'v1'),
  dropped('v2.9.0', 'image-automation-controller', 'ImageUpdateAutomation', 'v1beta2', 'v1'),
];

/** Returns what an upgrade changes, oldest first; nothing for another patch release, or on the way back. */
export function behaviourChanges(from: string, to: string, components: readonly string[]): BehaviourChange[] {
  return allBehaviourChanges.filter(
    ({ release, until, component }) =>
      components.includes(component) &&
      compareVersions(from, release) < 0 &&
      compareVersions(release, to) <= 0 &&
      (until === undefined || compareVersions(to, until) < 0),
  );
}

/** The sentence for users. */
export function behaviourText({ release, change, remedy }: BehaviourChange): string {
  return `From Flux ${release} on ${change}; ${remedy}.`;
}
