/** The values that gardenlet adds when it renders the chart of a ControllerInstallation. */
export function gardenletValues(seed: string): Record<string, unknown> {
  return {
    gardener: {
      version: 'v1.150.0',
      garden: {
        clusterIdentity: 'landscape-garden',
        genericKubeconfigSecretName: 'generic-garden-kubeconfig-0123abcd',
      },
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
      gardenlet: { featureGates: { NodeAgentAuthorizer: true } },
    },
  };
}

/** The namespace that Gardener creates for an installation. Its name ends at random. */
export const INSTALLATION = 'extension-shoot-flux-x7k2p';
