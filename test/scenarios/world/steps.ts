import type { KubeObject } from '../../../shared/kube/resource.ts';
import {
  inControlPlane,
  creating as inProgress,
  inProject,
  onlyFlux,
  publicRepository,
  type ShootParts,
} from '../stage.ts';
import type { World } from './world.ts';

/** One action of gardenlet, a project owner or Flux. */
export type Step = (world: World) => void;

export const config =
  (data: Record<string, string> | undefined): Step =>
  ({ gardenlet }) =>
    gardenlet.fluxConfig(data);
export const reconcile =
  (parts: ShootParts = {}): Step =>
  ({ gardenlet }) =>
    gardenlet.reconcile(parts);
export const fluxWorks: Step = ({ flux }) => {
  flux.works = true;
};
/** Flux's controllers do nothing: deleted objects keep their finalizers. */
export const fluxPauses: Step = ({ flux }) => {
  flux.works = false;
};
export const both =
  (...steps: Step[]): Step =>
  (world) => {
    for (const step of steps) step(world);
  };
const creating = reconcile({ status: { lastOperation: inProgress } });
export const create = (data: Record<string, string>) => both(config(data), creating);

export const always = { ...publicRepository, syncMode: 'Reconcile' };
export const fluxAlone = onlyFlux({ syncMode: 'Reconcile' });
/** With an order, no Shoot begins in the first minute. */
export const inWaves = { ...always, rollout: '{ maxInProgress: 1, order: stage }' };
export const template = (name: string) => ({
  ...fluxAlone,
  source: {
    template: {
      ...{ apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository', metadata: { name } },
      spec: { url: 'https://git.example.com/a', ref: { branch: 'main' } },
    },
  },
  kustomization: {
    template: {
      ...{ apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', metadata: { name } },
      spec: { path: './', prune: true },
    },
  },
});
export const renamed = (name: string) => reconcile({ providerConfig: template(name) });

export const deletedShoot = reconcile({ metadata: { deletionTimestamp: '2026-05-01T13:00:00Z' } });
export const forceDeletedShoot = reconcile({
  metadata: {
    deletionTimestamp: '2026-05-01T13:00:00Z',
    annotations: { 'confirmation.gardener.cloud/force-deletion': 'true' },
  },
});
export const migrate: Step = ({ gardenlet }) => gardenlet.operate('migrate');
export const deleteExtension: Step = ({ gardenlet }) => gardenlet.deleteExtension();

let state: Record<string, unknown> = {};
/** Deletes the Extension, and keeps what gardenlet takes to the other seed: state and resources. */
export const leave: Step = (world) => {
  const { status } = world.gardenlet.extension() as unknown as { status: Record<string, unknown> };
  state = { state: status.state, resources: status.resources };
  deleteExtension(world);
};
export const createWaiting: Step = ({ gardenlet }) => gardenlet.createWaiting();
export const restore: Step = ({ gardenlet }) => gardenlet.restore(state);

const projectVariables = { apiVersion: 'v1', kind: 'Secret', metadata: inProject('flux-variables') };
/** The project creates its Secret with variables for all Shoots. */
export const createVariables: Step = ({ garden }) =>
  void garden.objects.create({ ...projectVariables, type: 'Opaque', data: { team: 'Ymx1ZQ==' } } as KubeObject);
export const deleteVariables: Step = ({ garden }) => void garden.objects.delete(projectVariables);
/** gardenlet creates the Extension that waits for its state; source and Kustomization have another name now. */
export const createRenamed =
  (name: string): Step =>
  ({ gardenlet }) =>
    gardenlet.createWaiting(template(name));

export const rotate: Step = ({ garden }) => {
  const reference = { apiVersion: 'v1', kind: 'Secret', metadata: inProject('flux-source') };
  garden.objects.patch(reference, { data: { password: Buffer.from('another').toString('base64') } });
};

export const askFor =
  (phase: 'start' | 'complete'): Step =>
  ({ garden }) => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inProject('flux-config') };
    const annotations = { 'gardener.cloud/operation': `rotate-ssh-keypair-${phase}` };
    garden.objects.patch(reference, { metadata: { annotations } });
  };

const suspend =
  (value: string | null): Step =>
  ({ garden }) => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inProject('flux-config') };
    const annotations = { 'flux.extensions.gardener.cloud/suspended': value };
    garden.objects.patch(reference, { metadata: { annotations } });
  };
export const suspended = suspend('{"by":"mia","since":"2026-01-02T03:04:05Z","reason":"leaked key"}');
export const resumed = suspend(null);

export const former: Step = ({ seed, gardenlet }) => {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'kube-system', name: 'former' } };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: inControlPlane('former') };
  const data = { 'a.yaml': Buffer.from(JSON.stringify(content)).toString('base64') };
  seed.objects.create({ ...secret, data } as typeof secret);
  const managedResource = {
    apiVersion: 'resources.gardener.cloud/v1alpha1',
    kind: 'ManagedResource',
    metadata: inControlPlane('extension-shoot-flux-flux-config'),
    spec: { secretRefs: [{ name: 'former' }] },
  };
  seed.objects.create(managedResource);
  gardenlet.fluxConfig(publicRepository);
};

/** Creates a workload, and the nested Kustomization that has deployed it. */
export const deployed: Step = ({ shoot }) => {
  const metadata = (name: string) => ({ namespace: 'apps', name, finalizers: ['finalizers.fluxcd.io'] });
  const sourceRef = { kind: 'GitRepository', name: 'main-gitrepo', namespace: 'flux-system' };
  shoot.objects.ensureNamespace('apps');
  shoot.objects.create({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: metadata('nested'),
    spec: { interval: '5m', path: './', prune: true, sourceRef },
  } as KubeObject);
  shoot.objects.create({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'apps', name: 'workload' },
    data: { a: 'b' },
  } as KubeObject);
};
export const unreachable: Step = ({ shoot }) =>
  void shoot.faults.add({
    match: { user: 'functions' },
    action: 'status',
    status: 503,
    times: Number.POSITIVE_INFINITY,
  });

export const asleep = { spec: { hibernation: { enabled: true } } };
export const otherBranch = { repositoryBranch: 'other' };
