import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import { distributionAt } from '../../../shared/flux/distribution.ts';
import { objectGroups } from '../../../shared/flux/groups.ts';
import { contentSecret } from '../../../shared/gardener/managed-resource-content.ts';
import { shootFacts } from '../../../shared/gardener/shoot-facts.ts';
import { bench } from '../bench.ts';
import { fluxDistribution } from '../landscape/flux-distribution.ts';
import { cluster, controlPlane, fluxConfig, PROJECT_NAMESPACE } from '../landscape/objects.ts';

/** The content that a seed's etcd stores for one Shoot: the Secrets' data in bytes, without base64 and metadata. */
export const contentBench = bench(
  'content',
  { secrets: { what: 'ManagedResource Secrets per Shoot, all four components', unit: 'KB', atMost: 30 } },
  async () => {
    const distribution = distributionAt(fluxDistribution);
    const sizes = new Map<string, number>();
    for (const version of await distribution.versions()) sizes.set(version, await contentKb(version));
    const [newest = ['', 0]] = sizes;
    const largest = [...sizes].reduce((one, other) => (other[1] > one[1] ? other : one), newest);
    return {
      secrets: {
        value: newest[1],
        note: `${newest[0]}; the largest of ${sizes.size} releases is ${largest[0]} with ${largest[1].toFixed(1)} KB`,
      },
    };
  },
);

async function contentKb(version: string): Promise<number> {
  const data = fluxConfig('Once').data as Record<string, string>;
  const namespace = controlPlane(1);
  const groups = await objectGroups({
    config: effectiveConfig({ fluxConfig: { namespace: PROJECT_NAMESPACE, data } }),
    release: await distributionAt(fluxDistribution).release(version),
    shoot: shootFacts(cluster(namespace), {}),
    secrets: [],
    configMaps: [],
    ownsNamespace: true,
    shootHealth: false,
  });
  const secrets = Object.values(groups).map((objects) => contentSecret(namespace, 'shoot-flux', objects));
  const contents = await Promise.all(secrets);
  return contents.reduce((sum, { data }) => sum + decodedBytes(data as Record<string, string>), 0) / 1000;
}

function decodedBytes(data: Record<string, string>): number {
  return Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
}
