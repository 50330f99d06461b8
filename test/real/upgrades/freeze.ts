import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject, ObjectName, Resource } from '../../../shared/kube/resource.ts';
import { eventually } from '../../scenarios/stage.ts';

const fieldManager = 'person';

const admission = (plural: string, kind: string): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const policies = admission('validatingadmissionpolicies', 'ValidatingAdmissionPolicy');
const bindings = admission('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding');

/** Objects that an API server no longer accepts updates of. */
export interface Refusal {
  group: string;
  /** The plural. */
  resource: string;
  /** Only this object. Default: all of the resource. */
  name?: string;
  /** One of them, which is written to see whether the policy counts. */
  probe: [Resource, ObjectName];
}

/** A policy that refuses updates until it is removed. */
export interface Frozen extends AsyncDisposable {
  thaw(): Promise<void>;
}

/** Makes an API server refuse updates, and resolves once it does. */
export async function freeze(client: KubeClient, { group, resource, name, probe }: Refusal): Promise<Frozen> {
  const rule = { apiGroups: [group], apiVersions: ['*'], operations: ['UPDATE'], resources: [resource] };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: 'frozen' };
  const expression = name === undefined ? 'false' : `object.metadata.name != '${name}'`;
  const policy = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression, message: 'the objects are frozen' }],
  };
  const binding = { policyName: 'frozen', validationActions: ['Deny'] };
  await client.create(policies, object(apiVersion, policies.kind, metadata, policy), { fieldManager });
  await client.create(bindings, object(apiVersion, bindings.kind, metadata, binding), { fieldManager });
  // A policy counts a moment after it was written.
  const until = (isFrozen: boolean) =>
    eventually(
      'the policy',
      () => {
        const patch = { metadata: { labels: { at: String(Date.now()) } } };
        return client.mergePatch(probe[0], probe[1], patch, { fieldManager }).then(() => '', String);
      },
      (answer) => answer.includes('frozen') === isFrozen,
    );
  await until(true);
  const thaw = async () => {
    await client.delete(bindings, metadata, { reason: 'the test' });
    await client.delete(policies, metadata, { reason: 'the test' });
  };
  return {
    async thaw() {
      await thaw();
      await until(false);
    },
    [Symbol.asyncDispose]: thaw,
  };
}

function object(apiVersion: string, kind: string, metadata: { name: string }, spec: object): KubeObject {
  return { apiVersion, kind, metadata, spec } as KubeObject;
}
