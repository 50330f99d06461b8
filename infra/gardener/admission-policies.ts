import { FLUX_SOURCE } from '../../shared/config/project-config.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { CERTIFICATES, NAMESPACE } from '../webhooks/names.ts';
import { serviceAccountUser } from './rbac.ts';

/** The name of the single identity of `run` in docs/running.md. */
export const RUN_USER = 'shoot-flux-run';

const NAME = 'shoot-flux-secrets';

/** The ServiceAccounts of `rbac-garden.yaml`, and the user of `run`. */
const OURS = [
  `request.userInfo.username == '${RUN_USER}'`,
  `request.userInfo.username.startsWith('${serviceAccountUser('')}')`,
];

/**
 * Generates the policy of the garden that restricts which Secrets our identities create: RBAC cannot name what does not
 * exist yet. Without it the token of `keys` could create a Secret of type `kubernetes.io/service-account-token` in any
 * namespace, have it filled with the token of a ServiceAccount there, and read it, if it is called `flux-source`.
 * @param ours expressions, one of which is true for our identities
 */
export function policyObjects(name = NAME, ours = OURS): KubeObject[] {
  const allowed = [
    `object.metadata.name == '${FLUX_SOURCE}'`,
    `object.metadata.namespace == '${NAMESPACE}' && object.metadata.name == '${CERTIFICATES}'`,
  ];
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
        },
        matchConditions: [{ name: 'ours', expression: ours.join(' || ') }],
        validations: [
          {
            expression: `(${allowed.join(') || (')})`,
            message: `shoot-flux may create only Secret ${FLUX_SOURCE}, and ${NAMESPACE}/${CERTIFICATES}`,
          },
          {
            expression: "has(object.type) && object.type == 'Opaque'",
            message: 'shoot-flux may create only Secrets of type Opaque',
          },
        ],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}
