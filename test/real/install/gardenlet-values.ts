/** The name of the Secret with the kubeconfig of the garden that gardenlet makes for each installation. */
export const GENERIC_KUBECONFIG = 'generic-garden-kubeconfig-0123abcd';

const common = {
  version: 'v1.150.0',
  garden: { clusterIdentity: 'landscape-garden', genericKubeconfigSecretName: GENERIC_KUBECONFIG },
  gardenlet: { featureGates: { NodeAgentAuthorizer: true } },
};

/** The values that gardenlet adds when it renders the chart of a ControllerInstallation for a seed. */
export function gardenletValues(seed: string): Record<string, unknown> {
  return {
    gardener: {
      ...common,
      seed: {
        name: seed,
        clusterIdentity: `landscape-${seed}`,
        annotations: {},
        labels: { 'seed.gardener.cloud/gardenlet': 'true' },
        provider: 'local',
        region: 'here',
        volumeProvider: '',
        volumeProviders: [],
        ingressDomain: 'ingress.seed.example.com',
        protected: false,
        visible: true,
        taints: [],
        networks: { nodes: '10.0.0.0/16', pods: '10.1.0.0/16', services: '10.2.0.0/16', ipFamilies: ['IPv4'] },
        blockCIDRs: [],
        spec: { provider: { type: 'local', region: 'here' }, settings: { scheduling: { visible: true } } },
      },
    },
  };
}

/** The values that the gardenlet of a self-hosted Shoot adds: there is no seed. */
export function selfHostedValues(namespace: string, name: string): Record<string, unknown> {
  const shoot = { name, namespace, clusterIdentity: `landscape-${name}`, provider: 'local', region: 'here' };
  return { gardener: { ...common, selfHostedShootCluster: true, shoot } };
}

/** The namespace that Gardener creates for an installation. Its name ends at random. */
export const INSTALLATION = 'extension-shoot-flux-x7k2p';
