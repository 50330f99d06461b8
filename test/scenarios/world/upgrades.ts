import { standInDistribution } from '@shoot-flux/landscape/distribution';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Lifecycle } from './lifecycles.ts';
import { always, both, config, create, fluxWorks, reconcile, type Step, template } from './steps.ts';
import { FORMER_RELEASE } from './two-releases.ts';

const of = (version: string) => ({ ...always, fluxVersion: version });
const { version: newest } = standInDistribution;

/** Objects of the user's in a version that the next release does not have. */
const usersObjects: Step = ({ shoot }) => {
  shoot.objects.ensureNamespace('apps');
  for (const name of ['one', 'two', 'three']) {
    shoot.objects.create({
      apiVersion: 'source.toolkit.fluxcd.io/v1beta2',
      kind: 'OCIRepository',
      metadata: { namespace: 'apps', name },
      spec: { interval: '5m', url: `oci://registry.example/${name}` },
    } as KubeObject);
  }
};

/** Upgrades from `FORMER_RELEASE`, whose CRDs store versions that the stand-in release has dropped. */
export const upgrades: Lifecycle[] = [
  {
    name: 'an upgrade that migrates stored objects',
    setup: [both(create(of(FORMER_RELEASE)), fluxWorks), usersObjects],
    steps: [both(config(of(newest)), reconcile())],
  },
  {
    name: 'an upgrade that migrates stored objects, to the newest release because none is set',
    setup: [both(create(of(FORMER_RELEASE)), fluxWorks), usersObjects],
    steps: [both(config(always), reconcile())],
  },
  {
    name: 'an upgrade that migrates stored objects, and at the same time source and Kustomization are renamed',
    setup: [
      both(reconcile({ providerConfig: { ...template('old'), flux: { version: FORMER_RELEASE } } }), fluxWorks),
      usersObjects,
    ],
    steps: [reconcile({ providerConfig: { ...template('new'), flux: { version: newest } } })],
  },
];
