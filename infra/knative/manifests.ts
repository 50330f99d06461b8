import { stringify } from 'yaml';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { findDefinitions } from '../functions.ts';
import { broker, eventPolicy, identities, services, sinkBindings, triggers, watcher } from './base.ts';
import { IMAGE } from './containers.ts';
import { CONFIG, NAMESPACE } from './names.ts';

/** The folder of the manifests. */
export const KNATIVE = new URL('./', import.meta.url);

/** The image of the example, to be replaced. */
const EXAMPLE_IMAGE = { newName: 'registry.example.com/shoot-flux', newTag: '0.1.0' };

/** Generates the Kustomize base and its overlays from the functions' definitions, by file name. */
export async function knativeManifests(image = EXAMPLE_IMAGE): Promise<Record<string, string>> {
  const definitions = await findDefinitions();
  const base = {
    'identities.yaml': identities(definitions),
    'broker.yaml': [broker()],
    'triggers.yaml': triggers(definitions),
    'services.yaml': services(definitions),
    'watcher.yaml': watcher(),
    'sink-bindings.yaml': sinkBindings(definitions),
  };
  return {
    'base/kustomization.yaml': yaml(
      kustomization({ namespace: NAMESPACE, resources: Object.keys(base), configurations: ['name-references.yaml'] }),
    ),
    'base/name-references.yaml': yaml({ nameReference: nameReferences }),
    ...Object.fromEntries(Object.entries(base).map(([name, objects]) => [`base/${name}`, yaml(...objects)])),
    'overlays/event-policy/kustomization.yaml': yaml(
      kustomization({ kind: 'Component', namespace: NAMESPACE, resources: ['event-policy.yaml'] }),
    ),
    'overlays/event-policy/event-policy.yaml': yaml(eventPolicy(definitions)),
    'overlays/example/kustomization.yaml': yaml(
      kustomization({
        namespace: NAMESPACE,
        resources: ['../../base'],
        configMapGenerator: [{ name: CONFIG, files: ['config.yaml'] }],
        images: [{ name: IMAGE, ...image }],
      }),
    ),
    'overlays/example/config.yaml': stringify({
      garden: '/kubeconfigs/garden',
      seeds: { 'my-seed': '/kubeconfigs/my-seed' },
      fluxDistribution: '/flux-distribution',
      shootAccess: 'external',
    }),
  };
}

/** Kustomize gives a ConfigMap or Secret that it generates another name with each change, and knows no Knative Services. */
const nameReferences = [
  ['ConfigMap', 'configMap/name'],
  ['Secret', 'secret/secretName'],
].map(([kind, path]) => ({
  ...{ kind, version: 'v1' },
  fieldSpecs: [{ group: 'serving.knative.dev', kind: 'Service', path: `spec/template/spec/volumes/${path}` }],
}));

interface Kustomization {
  kind?: 'Kustomization' | 'Component';
  namespace: string;
  resources: string[];
  configurations?: string[];
  configMapGenerator?: object[];
  images?: object[];
}

function kustomization({ kind = 'Kustomization', ...rest }: Kustomization) {
  return { apiVersion: `kustomize.config.k8s.io/${kind === 'Component' ? 'v1alpha1' : 'v1beta1'}`, kind, ...rest };
}

function yaml(...objects: (KubeObject | object)[]): string {
  const documents = objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }));
  return `# Written by "npm run docs" from the functions' definitions.\n${documents.join('---\n')}`;
}
