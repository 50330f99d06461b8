import type { Creation, CreationWebhook } from '../kube-api/call.ts';

/** The accounts that gardenlet creates for extensions: for those on a seed, and on a self-hosted Shoot. */
const ofSeed = /^system:serviceaccount:seed-([^:]+):extension-[^:]+$/;
const ofShoot = /^system:serviceaccount:(garden(?:-[^:]+)?):extension-shoot--([^:]+?)--[^:]+$/;

/**
 * The webhooks with which Gardener's admission controller restricts extensions in the garden, as far as we meet them: no
 * new Secret and no new ConfigMap in the namespaces of projects. Both let them read and change what is there.
 */
export const restrictions: readonly CreationWebhook[] = [
  {
    name: 'seed-restriction.gardener.cloud',
    deny(creation) {
      const [, seed] = ofSeed.exec(creation.user) ?? [];
      return seed !== undefined && isRestricted(creation) ? `object does not belong to seed "${seed}"` : undefined;
    },
  },
  {
    name: 'shoot-restriction.gardener.cloud',
    deny(creation) {
      const [, namespace, shoot] = ofShoot.exec(creation.user) ?? [];
      const isDenied = shoot !== undefined && isRestricted(creation);
      return isDenied ? `object does not belong to shoot ${namespace}/${shoot}` : undefined;
    },
  },
];

function isRestricted({ group, plural, namespace }: Creation): boolean {
  const isOfProject = namespace === 'garden' || namespace.startsWith('garden-');
  return isOfProject && group === '' && ['secrets', 'configmaps'].includes(plural);
}
