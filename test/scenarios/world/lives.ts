import type { KubeObject } from '../../../shared/kube/resource.ts';
import { CONTROL_PLANE, PROJECT, type ShootParts } from './gardenlet.ts';
import type { World } from './world.ts';

/** Something happens to a Shoot; each step is followed until everybody is calm. */
export interface Life {
  name: string;
  /** Undisturbed. */
  before: Step[];
  /** Here the product is killed. */
  during: Step[];
  /** True: what is over when the next step comes leaves no trace, so that the steps may also come all at once. */
  mayHurry?: boolean;
  /** True: Flux goes in the end, but nothing of what it has deployed. */
  removes?: boolean;
}

export type Step = (world: World) => void;

const publicRepository = {
  repositoryUrl: 'https://git.example.com/fleet',
  repositoryBranch: 'main',
  repositoryType: 'public',
};
const privateRepository = {
  ...publicRepository,
  repositoryUrl: 'ssh://git@github.com/org/fleet',
  repositoryType: 'private',
};

const config =
  (data: Record<string, string> | undefined): Step =>
  ({ gardenlet }) =>
    gardenlet.fluxConfig(data);
const reconcile =
  (parts: ShootParts = {}): Step =>
  ({ gardenlet }) =>
    gardenlet.reconcile(parts);
const fluxWorks: Step = ({ flux }) => {
  flux.works = true;
};
const both =
  (...steps: Step[]): Step =>
  (world) => {
    for (const step of steps) step(world);
  };
const creating = reconcile({
  status: {
    lastOperation: {
      type: 'Create',
      state: 'Processing',
      progress: 50,
      description: 'going on',
      lastUpdateTime: '2026-05-01T12:00:00Z',
    },
  },
});
const create = (data: Record<string, string>) => both(config(data), creating);

const always = { ...publicRepository, syncMode: 'Reconcile' };
const template = (name: string) => ({
  apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
  kind: 'FluxConfig',
  syncMode: 'Reconcile',
  source: {
    template: {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { name },
      spec: { url: 'https://git.example.com/a', ref: { branch: 'main' } },
    },
  },
  kustomization: {
    template: {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name },
      spec: { path: './', prune: true },
    },
  },
});
const onlyFlux = { apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig', syncMode: 'Reconcile' };
const renamed = (name: string) => reconcile({ providerConfig: template(name) });

const deletedShoot = reconcile({ metadata: { deletionTimestamp: '2026-05-01T13:00:00Z' } });
const migrate: Step = ({ gardenlet }) => gardenlet.operate('migrate');
const deleteExtension: Step = ({ gardenlet }) => gardenlet.deleteExtension();

let state: Record<string, unknown> = {};
/** What gardenlet takes to the other seed: state and resources. */
const leave: Step = (world) => {
  const { status } = world.gardenlet.extension() as unknown as { status: Record<string, unknown> };
  state = { state: status.state, resources: status.resources };
  deleteExtension(world);
};
const createWaiting: Step = ({ gardenlet }) => gardenlet.createWaiting();
const restore: Step = ({ gardenlet }) => gardenlet.restore(state);

const rotate: Step = ({ garden }) => {
  const reference = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: PROJECT, name: 'flux-source' } };
  garden.objects.patch(reference, { data: { password: Buffer.from('another').toString('base64') } });
};

const askFor =
  (phase: 'start' | 'complete'): Step =>
  ({ garden }) => {
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: PROJECT, name: 'flux-config' } };
    const annotations = { 'gardener.cloud/operation': `rotate-ssh-keypair-${phase}` };
    garden.objects.patch(reference, { metadata: { annotations } });
  };

const former: Step = ({ seed, gardenlet }) => {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'kube-system', name: 'former' } };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: CONTROL_PLANE, name: 'former' } };
  const data = { 'a.yaml': Buffer.from(JSON.stringify(content)).toString('base64') };
  seed.objects.create({ ...secret, data } as typeof secret);
  const managedResource = {
    apiVersion: 'resources.gardener.cloud/v1alpha1',
    kind: 'ManagedResource',
    metadata: { namespace: CONTROL_PLANE, name: 'extension-shoot-flux-flux-config' },
    spec: { secretRefs: [{ name: 'former' }] },
  };
  seed.objects.create(managedResource);
  gardenlet.fluxConfig(publicRepository);
};

/** A workload, and the nested Kustomization that has deployed it. */
const deployed: Step = ({ shoot }) => {
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
const unreachable: Step = ({ shoot }) =>
  void shoot.faults.add({
    match: { user: 'functions' },
    action: 'status',
    status: 503,
    times: Number.POSITIVE_INFINITY,
  });

const asleep = { spec: { hibernation: { enabled: true } } };
const otherBranch = { repositoryBranch: 'other' };

export const lives: Life[] = [
  { name: 'a new Shoot, public repository', before: [], during: [create(publicRepository)] },
  { name: 'a new Shoot, private repository', before: [], during: [create(privateRepository)] },
  {
    name: 'another configuration before the first success',
    before: [create(publicRepository)],
    during: [config({ ...publicRepository, ...otherBranch })],
  },
  { name: 'the first success in mode Once', before: [create(publicRepository)], during: [fluxWorks] },
  {
    name: 'the first success in mode Once, and then mode Reconcile',
    before: [create(publicRepository)],
    during: [fluxWorks, config({ ...always, ...otherBranch })],
    mayHurry: true,
  },
  {
    name: 'the first success in mode ManifestsOnly',
    before: [create({ ...publicRepository, syncMode: 'ManifestsOnly' })],
    during: [fluxWorks],
  },
  {
    name: 'from Once to Reconcile',
    before: [both(create(publicRepository), fluxWorks)],
    during: [config({ ...always, ...otherBranch })],
  },
  {
    name: 'from Reconcile to Once',
    before: [both(create(always), fluxWorks)],
    during: [config({ ...publicRepository, syncMode: 'Once' })],
  },
  {
    name: 'source and Kustomization have another name',
    before: [both(renamed('old'), fluxWorks)],
    during: [renamed('new')],
  },
  {
    name: 'source and Kustomization have another name, and then another one',
    before: [both(renamed('old'), fluxWorks)],
    during: [renamed('new'), renamed('newest')],
    mayHurry: true,
  },
  {
    name: 'source and Kustomization have another name, and then the old one again',
    before: [both(renamed('old'), fluxWorks)],
    during: [renamed('new'), renamed('old')],
    mayHurry: true,
  },
  {
    name: 'nothing to synchronise any more, and then again',
    before: [both(renamed('old'), fluxWorks)],
    during: [reconcile({ providerConfig: onlyFlux }), renamed('old')],
    mayHurry: true,
  },
  { name: 'rotated credentials', before: [both(create(privateRepository), fluxWorks)], during: [rotate] },
  {
    name: 'key rotation started',
    before: [both(create(privateRepository), fluxWorks)],
    during: [askFor('start')],
  },
  {
    name: 'key rotation completed',
    before: [both(create(privateRepository), fluxWorks), askFor('start')],
    during: [askFor('complete')],
  },
  {
    name: 'a bad configuration, mended',
    before: [],
    during: [create({ ...publicRepository, repositoryBranchh: 'x' }), config(publicRepository)],
  },
  {
    name: 'the configuration goes away after the first success',
    before: [both(create(always), fluxWorks)],
    during: [config(undefined)],
  },
  {
    name: 'hibernated, changed and woken',
    before: [both(create(always), fluxWorks)],
    during: [reconcile(asleep), config({ ...always, ...otherBranch }), reconcile()],
    mayHurry: true,
  },
  { name: "taking over from 23technologies' extension", before: [former], during: [reconcile()] },
  {
    name: 'the extension leaves the Shoot, and Flux with it',
    before: [both(create(always), fluxWorks), deployed],
    during: [deleteExtension],
    removes: true,
  },
  {
    name: 'the extension leaves the Shoot before the first success',
    before: [create(publicRepository)],
    during: [deleteExtension],
    removes: true,
  },
  {
    name: 'the extension leaves the Shoot, and Flux with it, although it was let go',
    before: [both(create({ ...publicRepository, deletionPolicy: 'Uninstall' }), fluxWorks), deployed],
    during: [deleteExtension],
    removes: true,
  },
  {
    name: "the extension leaves the Shoot, and Flux is the user's",
    before: [both(create(publicRepository), fluxWorks), deployed],
    during: [deleteExtension],
  },
  {
    name: 'the extension leaves a Shoot whose API cannot be asked',
    before: [both(create(always), fluxWorks), deployed],
    during: [both(unreachable, deleteExtension)],
  },
  { name: 'migration', before: [both(create(publicRepository), fluxWorks)], during: [migrate] },
  { name: 'migration in mode Reconcile', before: [both(create(always), fluxWorks)], during: [migrate] },
  {
    name: 'restoration',
    before: [both(create(always), fluxWorks), migrate, leave],
    during: [createWaiting, restore],
  },
  {
    name: 'the Shoot is deleted',
    before: [both(create(always), fluxWorks)],
    during: [deletedShoot, deleteExtension],
  },
];
