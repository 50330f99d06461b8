import type { KubeObject } from '../../../shared/kube/resource.ts';
import { inControlPlane, reference } from '../stage.ts';
import { fluxAlone, type Step } from './steps.ts';

/** A Shoot that references one object of each kind. */
export const referring = {
  providerConfig: {
    ...fluxAlone,
    additionalSecretResources: [{ name: 'creds', targetName: 'pull' }, { name: 'vars' }, { name: 'cloud' }],
  },
  spec: {
    resources: [
      reference('creds', 'my-creds'),
      reference('vars', 'my-vars', 'ConfigMap'),
      reference('cloud', 'my-cloud', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1'),
    ],
  },
};
export const copyNames = [
  ['Secret', 'ref-my-creds'],
  ['ConfigMap', 'ref-my-vars'],
  ['Secret', 'workload-identity-ref-my-cloud'],
] as const;
const copyOf = ([kind, name]: (typeof copyNames)[number], content: string) => ({
  ...{ apiVersion: 'v1', kind, metadata: inControlPlane(name) },
  ...(kind === 'Secret' && { type: 'Opaque' }),
  data: { token: kind === 'Secret' ? Buffer.from(content).toString('base64') : content },
});
export const [credentials, variables, token] = copyNames;
/** Gardener copies the named objects into the control plane. */
export const copy =
  (content: string, ...names: (typeof copyNames)[number][]): Step =>
  ({ seed }) => {
    for (const name of names) seed.objects.apply(copyOf(name, content) as KubeObject);
  };
export const deleteCopies: Step = ({ seed }) => {
  for (const name of copyNames) seed.objects.delete(copyOf(name, '') as KubeObject);
};

/** gardenlet creates an Extension of this Shoot that waits for its state. */
export const createReferring: Step = ({ gardenlet }) => gardenlet.createWaiting(referring.providerConfig);
/** gardenlet retries the restoration. */
export const restoreAgain: Step = ({ gardenlet }) => gardenlet.operate('restore');
