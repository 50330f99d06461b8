import { expect } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { describeKilled } from '../scenarios/killed.ts';
import type { Lifecycle } from '../scenarios/world/lifecycles.ts';
import { both, fluxWorks, reconcile, type Step, template } from '../scenarios/world/steps.ts';

const core = ['source-controller', 'kustomize-controller'];
const flux = (options: object) => reconcile({ providerConfig: { ...template('main'), flux: options } });
const usersRelease: Step = ({ shoot }) => {
  shoot.objects.ensureNamespace('apps');
  shoot.objects.create({
    apiVersion: 'helm.toolkit.fluxcd.io/v2',
    kind: 'HelmRelease',
    metadata: { namespace: 'apps', name: 'podinfo', finalizers: ['finalizers.fluxcd.io'] },
    spec: { interval: '5m', chart: { spec: { chart: 'podinfo', sourceRef: { kind: 'HelmRepository', name: 'a' } } } },
  } as KubeObject);
};
/** What a garbage collector does after a deletion with foreground propagation. */
const collected: Step = ({ shoot }) => {
  const name = 'helm-controller';
  const isThere = shoot.objects.list('apps/v1', 'Deployment').some(({ metadata }) => metadata.name === name);
  const reference = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'flux-system', name } };
  if (isThere) shoot.objects.patch(reference, { metadata: { finalizers: [] } });
};
const isGone: Step = ({ shoot }) => {
  const crds = shoot.objects.list('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
  expect(crds.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('helmreleases'))).toEqual([]);
};
const lifecycles: Lifecycle[] = [
  {
    name: 'a component is removed with its kinds',
    setup: [both(flux({ components: [...core, 'helm-controller'] }), fluxWorks), usersRelease],
    steps: [flux({ components: core, removedComponents: 'Delete' }), collected, isGone],
    deletes: /\/(deployments|serviceaccounts|customresourcedefinitions)\/helm/,
  },
];
const afterEveryWrite = true;

describeKilled('removed components', lifecycles, ['process', 'outage'], { afterEveryWrite });
describeKilled('removed components on Lambda', lifecycles, ['function'], { afterEveryWrite, queue: 'sqs' });
describeKilled('removed components, delivery Direct', lifecycles, ['process'], { delivery: 'Direct' });
