import type { PolicyRule } from '../../shared/runtime/definition.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { hasRight } from '../fleet/who.ts';
import { findAllDefinitions } from '../functions.ts';
import { identitiesIn } from '../gardener/rbac.ts';
import { bad, type Deployment, type Finding, good, type Patient } from './finding.ts';

/** Asks for each right that the functions, the watcher, the webhooks and the heartbeat need: about 40 requests. */
export async function rights(patient: Patient, deployment: Deployment): Promise<Finding | Finding[]> {
  const needs = [...Map.groupBy(await needed(patient, deployment), ({ right }) => textOf(right))];
  const answers = await inParallel(needs, async ([, [need]]) => {
    const [resource, subresource] = need?.right.resource.split('/') ?? [];
    const resourceAttributes = { ...need?.right, resource, subresource };
    return hasRight(patient.kube, 'SelfSubjectAccessReview', { resourceAttributes });
  });
  const missing = needs.filter((_, index) => answers[index] === false);
  if (missing.length === 0) return good(`The credentials have all ${needs.length} rights that the functions need`);
  const remedy = remedyOf(patient);
  if (missing.length === needs.length)
    return bad(`The credentials have none of the ${needs.length} rights that the functions need`, remedy);
  return missing.map(([text, some]) => {
    const users = new Set(some.map(({ user }) => user));
    return bad(`The credentials may not ${text}, as ${[...users].join(' and ')} must`, remedy);
  });
}

/** Returns the rights, with the parts of the product that need them. */
async function needed({ name: cluster, place }: Patient, { certificates, configuration, heartbeat }: Deployment) {
  const identities = identitiesIn(await findAllDefinitions(), place);
  return identities.flatMap(({ name: user, rules, own = [] }) => {
    const needs = (some: PolicyRule[], namespace = '') =>
      some.flatMap((rule) => rightsOf(rule, namespace)).map((right) => ({ user, right }));
    if (user === 'heartbeat') return heartbeat[cluster] === undefined ? [] : needs(own, heartbeat[cluster]);
    if (user !== 'webhooks') return needs(rules);
    if (certificates === undefined) return [];
    const ofSecret = renamed(certificates.cluster === cluster ? own : [], certificates.name);
    return [...needs(renamed(rules, configuration)), ...needs(ofSecret, certificates.namespace)];
  });
}

/** A deployment may choose other names for its Secret and its configurations. */
const renamed = (rules: PolicyRule[], name: string) =>
  rules.map((rule) => (rule.resourceNames === undefined ? rule : { ...rule, resourceNames: [name] }));

/** Returns one right for each verb and object: without a name of all objects, without a namespace in all of them. */
const rightsOf = ({ apiGroups, resources, verbs, resourceNames = [''] }: PolicyRule, namespace: string) =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => ({ verb, group, resource, name, namespace }))),
    ),
  );

function textOf({ verb, group, resource, name, namespace }: ReturnType<typeof rightsOf>[number]): string {
  const where = namespace === '' ? 'all namespaces' : `namespace ${namespace}`;
  return `${verb} ${resource}${group && `.${group}`}${name && ` ${name}`} in ${where}`;
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
