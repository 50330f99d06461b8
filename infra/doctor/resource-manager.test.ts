import { expect, it } from 'vitest';
import { type Clusters, useClusters } from './testing.ts';

let clusters: Clusters;
useClusters((started) => {
  clusters = started;
});

/** Passes any object to the store of a test server. */
const objectOf = <T extends { apiVersion: string; kind: string; metadata: { name: string } }>(object: T) => object;

function controlPlane(name: string, args: string[], applied?: object, tag = 'v1.150.0'): void {
  const namespace = `shoot--foo--${name}`;
  const { objects } = clusters.seed;
  objects.ensureNamespace(namespace);
  const extension = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension' };
  const metadata = { namespace, name: 'shoot-flux' };
  objects.create(objectOf({ ...extension, metadata, spec: { type: 'shoot-flux' } }));
  objects.patchStatus({ ...extension, metadata }, { state: { applied } });
  const manager = 'gardener-resource-manager';
  const image = `registry.example/gardener/resource-manager:${tag}`;
  objects.create(
    objectOf({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name: manager } },
      spec: {
        selector: { matchLabels: { app: manager } },
        template: {
          metadata: { labels: { app: manager } },
          spec: { containers: [{ name: manager, image, args }] },
        },
      },
    }),
  );
}

const record = (namespace: string) => ({
  ...{ configHash: 'x', fluxVersion: 'v2.9.4', namespace, components: [], managedResources: {}, objects: {} },
  source: { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository', namespace: 'sources', name: 'main' },
});

const lines = () => clusters.lines('resource-manager');

it('has nothing to look at without Shoots', async () => {
  expect(await lines()).toEqual(['✔ aws resource-manager: No Shoot here has the extension yet.']);
});

it('accepts arguments for what is recorded', async () => {
  controlPlane('a', ['--extra-target-namespace=flux-system,sources'], record('flux-system'));
  controlPlane('b', []);
  expect(await lines()).toEqual([
    '✔ aws resource-manager: All 2 resource-managers may write into the namespaces of Flux.',
  ]);
});

it('names what is missing, and asks the webhook again', async () => {
  controlPlane('a', ['--extra-target-namespace=sources'], record('flux-system'));
  controlPlane('b', ['--extra-target-namespace=sources'], record('flux-system'));
  controlPlane('c', [], record('flux-system'), 'v1.146.2');
  expect(await lines()).toEqual([
    '✗ aws resource-manager: The gardener-resource-manager in shoot--foo--a, and 1 more, lacks --extra-target-namespace=flux-system, so that Flux cannot be written there.',
    '    kubectl patch deployment gardener-resource-manager --type merge --patch {} --namespace shoot--foo--a --kubeconfig adminSeed',
    '✗ aws resource-manager: The gardener-resource-manager in shoot--foo--c cannot get its argument, because image version v1.146.2 is older than v1.147; upgrade Gardener.',
  ]);
});

it('says what it may not read', async () => {
  controlPlane('a', [], record('flux-system'));
  const all = await clusters.lines('resource-manager', '--seed', `gcp=${clusters.paths.seed}`);
  expect(all.at(-1)).toMatch(
    /^! gcp resource-manager: Not checked, because user "shoot-flux-run" cannot get resource "deployments"/,
  );
});
