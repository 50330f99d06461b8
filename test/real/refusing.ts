import type { KubeObject } from '../../shared/kube/resource.ts';
import { eventually } from '../scenarios/stage.ts';
import type { ApiServer } from './cluster/api-server.ts';
import { applyObjects, deleteObjects } from './install/objects.ts';

/** What a policy of the cluster's owner refuses. */
export interface Refused {
  /** Of the policy, which is also what it says. */
  name: string;
  group: string;
  /** The plural. */
  resource: string;
  operation: 'CREATE' | 'UPDATE';
  /** For which objects or users, as an expression of CEL. */
  condition: string;
  /** A request that is refused; it may fail. */
  probe(): Promise<unknown>;
}

/** Makes an API server refuse requests, and resolves once it does. */
export async function refusing(
  server: ApiServer,
  { name, group, resource, operation, condition, probe }: Refused,
): Promise<AsyncDisposable> {
  const common = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } };
  const rule = { apiGroups: [group], apiVersions: ['*'], operations: [operation], resources: [resource] };
  const policy: KubeObject[] = [
    {
      ...{ ...common, kind: 'ValidatingAdmissionPolicy' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        matchConditions: [{ name: 'these', expression: condition }],
        validations: [{ expression: 'false', message: name }],
      },
    },
    {
      ...{ ...common, kind: 'ValidatingAdmissionPolicyBinding' },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
  // A policy counts a moment after it was written.
  const until = (isRefused: boolean) =>
    eventually(
      `the policy ${isRefused ? 'counts' : 'is gone'}`,
      () => probe().then(() => '', String),
      (answer) => answer.includes(`denied request: ${name}`) === isRefused,
    );
  await applyObjects(server, policy);
  await until(true);
  return {
    async [Symbol.asyncDispose]() {
      await deleteObjects(server, policy);
      await until(false);
    },
  };
}
