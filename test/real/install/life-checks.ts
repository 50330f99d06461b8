import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { CONTROL_PLANE, eventually, type Stage } from '../../scenarios/stage.ts';

export interface Waiting {
  stage: Stage;
  /** Longest wait for one effect. */
  seconds: number;
}

const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const inDefault = (name: string) => ({ namespace: 'default', name });

/** What Flux has deployed: a workload, and the Kustomization that would prune it if it were deleted unsuspended. */
export const workload: [Resource, KubeObject][] = [
  [
    kustomizations,
    {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { ...inDefault('nested'), finalizers: ['finalizers.fluxcd.io'] },
      spec: {
        interval: '5m',
        path: './',
        prune: true,
        sourceRef: { kind: 'GitRepository', name: 'main-gitrepo', namespace: 'flux-system' },
      },
    },
  ],
  [
    resources.configMaps,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: inDefault('workload'), data: { a: 'b' } } as KubeObject,
  ],
];

/** Waits until the expectations hold; the error is the last one's. */
export async function until({ seconds }: Waiting, what: string, expectations: () => Promise<void>): Promise<void> {
  await eventually(
    what,
    () =>
      expectations().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    (failure) => failure === undefined,
    undefined,
    seconds,
  );
}

/** Waits until the Extension of a stage is deleted. */
export async function untilGone(stage: Stage, seconds?: number): Promise<void> {
  await eventually(
    'the Extension is gone',
    () => stage.seed.find(resources.extensions, { namespace: CONTROL_PLANE, name: 'shoot-flux' }),
    (live) => live === undefined,
    (live) => live?.status,
    seconds,
  );
}

/** Returns the uids of objects that must survive a migration. */
export async function identitiesIn({ shoot }: Stage): Promise<Record<string, string | undefined>> {
  const names: [Resource, { name: string; namespace?: string }][] = [
    [resources.namespaces, { name: 'flux-system' }],
    [resources.customResourceDefinitions, crdOf(kustomizations)],
    [resources.deployments, inFlux('source-controller')],
    [resources.secrets, inFlux('flux-source')],
    [gitRepositories, inFlux('main-gitrepo')],
    [kustomizations, inFlux('main-ks')],
  ];
  const found = await Promise.all(names.map(([resource, name]) => shoot.find(resource, name)));
  return Object.fromEntries(names.map(([{ kind }, { name }], index) => [`${kind} ${name}`, uidOf(found[index])]));
}

function uidOf(object: KubeObject | undefined): string | undefined {
  expect(object?.metadata).not.toHaveProperty('deletionTimestamp');
  return object?.metadata.uid;
}

/** Expects that Flux has been removed from the shoot with everything of ours, and nothing that it had deployed. */
export async function expectRemoved({ seed, shoot, managedResources }: Stage): Promise<void> {
  expect(await managedResources()).toEqual({});
  const ours = await seed.list(resources.secrets, { namespace: CONTROL_PLANE, labelSelector: 'origin=shoot-flux' });
  expect(ours.items.map(({ metadata }) => metadata.name)).toEqual([]);
  for (const resource of [kustomizations, gitRepositories]) {
    expect(await shoot.find(resources.customResourceDefinitions, crdOf(resource))).toBeUndefined();
  }
  for (const name of ['source-controller', 'kustomize-controller']) {
    expect(await shoot.find(resources.deployments, inFlux(name))).toBeUndefined();
  }
  const left = await shoot.find(resources.configMaps, inDefault('workload'));
  expect(left?.data).toEqual({ a: 'b' });
  expect(left?.metadata).not.toHaveProperty('deletionTimestamp');
}

const crdOf = ({ plural, group }: Resource) => ({ name: `${plural}.${group}` });
