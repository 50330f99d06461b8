import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyStatusMap } from '../../shared/gardener/status-map.ts';
import { files } from '../cli/testing.ts';
import { HEARTBEAT } from '../process/heartbeat.ts';
import { type Clusters, createObject, useClusters } from './testing.ts';

let clusters: Clusters;
useClusters((started) => {
  clusters = started;
});

function shoot(name: string, seedName: string): void {
  clusters.garden.objects.ensureNamespace('garden-foo');
  createObject(clusters.garden, {
    ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' },
    metadata: { namespace: 'garden-foo', name, labels: { 'extensions.extensions.gardener.cloud/shoot-flux': 'true' } },
    spec: { seedName, kubernetes: { version: '1.34.1' } },
  });
}

function selfHosted(name: string): void {
  clusters.garden.objects.ensureNamespace('garden-foo');
  createObject(clusters.garden, {
    ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' },
    metadata: { namespace: 'garden-foo', name, labels: { 'extensions.extensions.gardener.cloud/shoot-flux': 'true' } },
    spec: { kubernetes: { version: '1.34.1' }, provider: { workers: [{ name: 'own', controlPlane: {} }] } },
  });
}

function installation(seed: string, conditions: object[] = [], registration = 'shoot-flux'): void {
  createObject(clusters.garden, {
    ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'ControllerInstallation' },
    metadata: { name: `${registration}-${seed}` },
    spec: { registrationRef: { name: registration }, seedRef: { name: seed } },
    status: { conditions },
  });
}

it('the Flux of a Shoot is read from flux-status, and compared with the distribution', async () => {
  shoot('a', 'aws');
  shoot('b', 'aws');
  const data = { a: 'Ready (v2.9.3): ConfigMap …', b: 'Ready (v2.9.4)' };
  createObject(clusters.garden, { ...emptyStatusMap('garden-foo'), data });
  await using written = await files({});
  await mkdir(join(written.dir, 'v2.9.4'));
  await writeFile(join(written.dir, 'v2.9.4', 'SHA256SUMS'), '');
  const lines = await clusters.lines('releases', '--flux-distribution', written.dir);
  expect(lines.slice(-2)).toEqual([
    '! distribution releases: Shoot garden-foo/a has a Flux release that lacks the fixes of a newer patch in the distribution.',
    '    shoot-flux status --all-namespaces -o wide',
  ]);
});

describe('seeds of the garden', () => {
  const lines = () => clusters.lines('seeds');

  it('are served by --seed, and by installations', async () => {
    shoot('a', 'aws');
    shoot('b', 'gcp');
    installation('gcp', [{ type: 'Healthy', status: 'True' }]);
    expect(await lines()).toEqual([
      '✔ garden seeds: Each of the 2 seeds that have Shoots with the extension is served.',
    ]);
  });

  it('are named where nobody serves them', async () => {
    for (const name of ['a', 'b']) shoot(name, 'gcp');
    installation('gcp', [], 'provider-gcp');
    expect(await lines()).toEqual([
      '✗ garden seeds: Nobody serves seed gcp: 2 Shoots, such as garden-foo/a, have the extension there, and it has no ControllerInstallation; add it to the seeds of a deployment.',
      '    kubectl get controllerinstallations --kubeconfig adminGarden',
    ]);
  });

  it('are self-hosted Shoots as well, each with an installation of its own', async () => {
    for (const name of ['one', 'two']) selfHosted(name);
    createObject(clusters.garden, {
      ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'ControllerInstallation' },
      metadata: { name: 'shoot-flux-one' },
      spec: { registrationRef: { name: 'shoot-flux' }, shootRef: { namespace: 'garden-foo', name: 'one' } },
      status: { conditions: [{ type: 'Healthy', status: 'False', message: 'it has no ready Pod' }] },
    });
    expect(await lines()).toEqual([
      '✗ garden seeds: Nobody serves seed shoot--garden-foo--two: Shoot garden-foo/two has the extension there, and it has no ControllerInstallation; add it to the seeds of a deployment.',
      '    kubectl get controllerinstallations --kubeconfig adminGarden',
      '✗ garden seeds: ControllerInstallation shoot-flux-one of seed shoot--garden-foo--one is not Healthy: it has no ready Pod.',
      '    kubectl get controllerinstallation shoot-flux-one -o yaml --kubeconfig adminGarden',
    ]);
  });

  it('share one installation where a self-hosted Shoot is a seed, too', async () => {
    selfHosted('one');
    shoot('a', 'gcp');
    createObject(clusters.garden, {
      ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'ControllerInstallation' },
      metadata: { name: 'shoot-flux-one' },
      spec: {
        registrationRef: { name: 'shoot-flux' },
        seedRef: { name: 'gcp' },
        shootRef: { namespace: 'garden-foo', name: 'one' },
      },
      status: { conditions: [] },
    });
    expect(await lines()).toEqual([
      '✔ garden seeds: Each of the 2 seeds that have Shoots with the extension is served.',
    ]);
  });

  it('say what gardenlet says about an installation', async () => {
    installation('gcp', [
      { type: 'Installed', status: 'True' },
      { type: 'Healthy', status: 'False', message: 'Deployment shoot-flux has no ready Pod' },
    ]);
    expect(await lines()).toEqual([
      '✗ garden seeds: ControllerInstallation shoot-flux-gcp of seed gcp is not Healthy: Deployment shoot-flux has no ready Pod.',
      '    kubectl get controllerinstallation shoot-flux-gcp -o yaml --kubeconfig adminGarden',
    ]);
  });
});

describe('what serves a seed', () => {
  const lines = () => clusters.lines('server');
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace('Z', '000Z');

  function beat(namespace: string, minutes: number, holderIdentity = 'shoot-flux'): void {
    clusters.seed.objects.ensureNamespace(namespace);
    createObject(clusters.seed, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name: HEARTBEAT } },
      spec: { holderIdentity, renewTime: ago(minutes), leaseDurationSeconds: 30 },
    });
  }

  function deployment(namespace: string, replicas = 1): void {
    clusters.seed.objects.ensureNamespace(namespace);
    const labels = { 'app.kubernetes.io/name': 'shoot-flux', 'app.kubernetes.io/component': 'controller' };
    createObject(clusters.seed, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name: 'shoot-flux', labels } },
      spec: {
        ...{ replicas, selector: { matchLabels: labels } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'shoot-flux', image: 'x' }] } },
      },
    });
  }

  it('may be seen by nothing', async () => {
    beat('other', 0, 'provider-aws');
    expect(await lines()).toEqual([expect.stringMatching(/^! aws server: No Deployment and no heartbeat says which/)]);
  });

  it('is one deployment, with its heartbeat', async () => {
    deployment('extension-shoot-flux-abcde');
    beat('extension-shoot-flux-abcde', 1);
    deployment('rights-alone', 0);
    expect(await lines()).toEqual(['✔ aws server: The deployment in namespace extension-shoot-flux-abcde serves it.']);
  });

  it('is nobody any more', async () => {
    beat('shoot-flux', 10);
    expect(await lines()).toEqual([
      expect.stringMatching(
        /^✗ aws server: Nobody serves it: the heartbeat in namespace shoot-flux was renewed last at 20/,
      ),
      '    kubectl get pods --namespace shoot-flux --kubeconfig adminSeed',
    ]);
  });

  it('are two deployments', async () => {
    deployment('extension-shoot-flux-abcde');
    beat('shoot-flux', 1);
    beat('stopped', 60);
    expect(await lines()).toEqual([
      '✗ aws server: It is served by 2 deployments, in namespaces extension-shoot-flux-abcde and shoot-flux: give it to one.',
      expect.stringContaining('    kubectl get deployments --all-namespaces --selector app.'),
    ]);
  });
});
