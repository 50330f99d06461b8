import type { PolicyRule } from '../../shared/runtime/definition.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { fieldsAt } from '../../shared/shapes.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { findAllDefinitions } from '../functions.ts';
import { identitiesIn } from '../gardener/rbac.ts';
import { CERTIFICATES, CONFIGURATION, NAMESPACE } from '../webhooks/names.ts';
import { bad, type Finding, good, type Patient } from './finding.ts';

/** What a part of the product does in a cluster. */
interface Right {
  verb: string;
  group: string;
  /** With the subresource, as in a rule. */
  resource: string;
  /** Empty: all objects. */
  name: string;
  /** Empty: in all namespaces. */
  namespace: string;
}

/** The parts of a deployment that have rights in a namespace, and where it is. */
export interface Deployment {
  /** Its webhooks; absent: it serves none. */
  webhooks?: { secret: { cluster: string; namespace: string; name: string }; configuration: string } | undefined;
  /** Seed -> namespace of the heartbeat. */
  heartbeat: Readonly<Record<string, string>>;
}

/** The Secret and the configurations, unless a deployment chooses others. */
export const usualWebhooks = {
  secret: { cluster: GARDEN, namespace: NAMESPACE, name: CERTIFICATES },
  configuration: CONFIGURATION,
};

/** Asks for each right that the functions, the watcher, the webhooks and the heartbeat need: about 40 requests. */
export async function rights(patient: Patient, deployment: Deployment): Promise<Finding | Finding[]> {
  const all = [...(await needed(patient, deployment)).values()];
  const answers = await inParallel(all, ({ right }) => isAllowed(patient, right));
  const missing = all.filter((_, index) => answers[index] === false);
  if (missing.length === 0) return good(`The credentials have all ${all.length} rights that the functions need`);
  const remedy = remedyOf(patient);
  if (missing.length === all.length)
    return bad(`The credentials have none of the ${all.length} rights that the functions need`, remedy);
  return missing.map(({ right: { verb, group, resource, name, namespace }, users }) => {
    const object = `${resource}${group && `.${group}`}${name && ` ${name}`}`;
    const where = namespace === '' ? 'all namespaces' : `namespace ${namespace}`;
    return bad(`The credentials may not ${verb} ${object} in ${where}, as ${[...users].join(' and ')} must`, remedy);
  });
}

/** A right, and the parts of the product that need it. */
interface Need {
  right: Right;
  users: Set<string>;
}

async function needed({ name: cluster, place }: Patient, { webhooks, heartbeat }: Deployment) {
  const needs = new Map<string, Need>();
  const add = (user: string, rules: PolicyRule[], namespace: string) => {
    for (const right of rules.flatMap((rule) => rightsOf(rule, namespace))) {
      const id = JSON.stringify(right);
      const need = needs.get(id) ?? { right, users: new Set() };
      needs.set(id, { right, users: need.users.add(user) });
    }
  };
  for (const { name, rules, own = [] } of identitiesIn(await findAllDefinitions(), place)) {
    if (name === 'heartbeat') {
      if (heartbeat[cluster] !== undefined) add(name, own, heartbeat[cluster]);
    } else if (name !== 'webhooks') add(name, rules, '');
    else if (webhooks !== undefined) {
      add(name, renamed(rules, webhooks.configuration), '');
      const { secret } = webhooks;
      if (secret.cluster === cluster) add(name, renamed(own, secret.name), secret.namespace);
    }
  }
  return needs;
}

/** A deployment may choose other names for its Secret and its configurations. */
const renamed = (rules: PolicyRule[], name: string) =>
  rules.map((rule) => (rule.resourceNames === undefined ? rule : { ...rule, resourceNames: [name] }));

function rightsOf({ apiGroups, resources, verbs, resourceNames = [''] }: PolicyRule, namespace: string): Right[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => ({ verb, group, resource, name, namespace }))),
    ),
  );
}

async function isAllowed({ kube }: Patient, { resource, ...right }: Right): Promise<boolean> {
  const [plural, subresource] = resource.split('/');
  const review = await kube.ask('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: { ...right, resource: plural, subresource } },
  });
  return fieldsAt(review, 'status')?.allowed === true;
}

/** gardenlet, and the registration, give the rights to an account of an installation. */
const OF_INSTALLATION = /^system:serviceaccount:(seed-|extension-|garden:extension-)/;

function remedyOf(patient: Patient): string {
  const { place, user } = patient;
  if (OF_INSTALLATION.test(user))
    return 'kubectl --kubeconfig GARDEN apply --server-side -f controller-registration.yaml';
  const file = `infra/gardener/rbac-${place}.yaml`;
  return `${kubectl(['apply', '--server-side', '-f', file], patient)}  # and bind its roles to ${user || 'this user'}`;
}
