import { EXTENSION_TYPE } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { AnyDefinition } from '../../functions.ts';
import { gardenRights } from './garden-roles.ts';
import { REGISTRATION } from './names.ts';

/** What a registration refers to. */
export interface Release {
  version: string;
  /** Host and path of the registry, for example `registry.example.com/gardener`. */
  registry: string;
  /** Values of the chart for seeds, which take precedence. */
  values?: Record<string, unknown> | undefined;
}

/** What Gardener knows about the kind and type. The other fields keep their defaults. */
const resource = {
  kind: 'Extension',
  type: EXTENSION_TYPE,
  // Nothing waits for nodes. A deletion suspends Flux while the API server of the shoot still answers.
  lifecycle: { reconcile: 'AfterKubeAPIServer', delete: 'BeforeKubeAPIServer', migrate: 'BeforeKubeAPIServer' },
  // The controllers of Flux need nodes.
  workerlessSupported: false,
};

/** gardenlet labels the namespace of each installation with it. */
const metadata = {
  name: REGISTRATION,
  annotations: { 'security.gardener.cloud/pod-security-enforce': 'restricted' },
};

const imageValues = ({ registry, version }: Release) => ({ repository: `${registry}/shoot-flux`, tag: version });

const seedValues = ({ values = {}, ...release }: Release) => ({
  ...values,
  image: { ...imageValues(release), ...(values.image as object | undefined) },
});

/** Values of the chart for seeds that admission has, too: its Pods run the same image and judge by the same rules. */
const COMMON = ['image', 'imagePullSecrets', 'imageVectorOverwrite', 'defaults', 'policy'];

/** Keys of the config file with the same rules. */
const COMMON_CONFIG = ['defaults', 'policy'];

function admissionValues(release: Release): Record<string, unknown> {
  const values: Record<string, unknown> = seedValues(release);
  const config = pick(values.config, COMMON_CONFIG);
  return { ...pick(values, COMMON), ...(Object.keys(config).length > 0 && { config }) };
}

function pick(from: unknown, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => names.includes(name)));
}

/**
 * Generates the objects that register the extension in a garden without gardener-operator.
 * @param chart the packed chart, for landscapes without a registry of charts. Absent: it is pulled
 */
export function registrationObjects(definitions: AnyDefinition[], release: Release, chart?: Buffer): KubeObject[] {
  const source =
    chart === undefined
      ? { ociRepository: { ref: chartReference(release, 'shoot-flux') } }
      : { rawChart: chart.toString('base64') };
  return [
    ...gardenRights(definitions),
    {
      apiVersion: 'core.gardener.cloud/v1',
      kind: 'ControllerDeployment',
      metadata: { name: REGISTRATION },
      helm: { ...source, values: seedValues(release) },
      injectGardenKubeconfig: true,
    },
    {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'ControllerRegistration',
      metadata,
      spec: { deployment: { policy: 'OnDemand', deploymentRefs: [{ name: REGISTRATION }] }, resources: [resource] },
    },
  ];
}

/** Generates the object that registers the extension in a landscape with gardener-operator, with its admission. */
export function operatorExtension(release: Release): KubeObject {
  const helm = (chart: string) => ({ helm: { ociRepository: { ref: chartReference(release, chart) } } });
  return {
    apiVersion: 'operator.gardener.cloud/v1alpha1',
    kind: 'Extension',
    metadata,
    spec: {
      resources: [resource],
      deployment: {
        extension: {
          ...helm('shoot-flux'),
          policy: 'OnDemand',
          injectGardenKubeconfig: true,
          values: seedValues(release),
        },
        admission: {
          runtimeCluster: helm('shoot-flux-admission-runtime'),
          virtualCluster: helm('shoot-flux-admission-application'),
          values: admissionValues(release),
        },
      },
    },
  };
}

const chartReference = ({ registry, version }: Release, chart: string) => `${registry}/charts/${chart}:${version}`;
