import {
  addTargetNamespaces,
  leaveUnchanged,
} from '../../functions/resource-manager-webhook/target-namespaces-flag.ts';
import { stateOf } from '../../shared/gardener/state.ts';
import { EXTENSION_TYPE, RESOURCE_MANAGER } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { fieldsAt } from '../../shared/shapes.ts';
import { kubectl } from '../fleet/kubectl.ts';
import { bad, type Finding, good, type Patient, unknown } from './finding.ts';

/** Control planes that are looked at: what is wrong with the webhook is wrong in all of them. */
const MOST = 50;

/** Asks whether the resource-managers of a seed may write into the namespaces of Flux. */
export async function resourceManagers(patient: Patient): Promise<Finding | Finding[]> {
  const { kube } = patient;
  const fieldSelector = `metadata.name=${EXTENSION_TYPE}`;
  const { items, ...page } = await kube.list(resources.extensions, { fieldSelector, limit: MOST });
  if (items.length === 0) return good('No Shoot here has the extension yet');
  const answers = await inParallel(items, async ({ metadata: { namespace = '' }, status }) => {
    const deployment = await kube.find(resources.deployments, { namespace, name: RESOURCE_MANAGER });
    // A hibernated Shoot may have none.
    return deployment === undefined ? [] : [{ namespace, ...problemOf(deployment, recordedNamespaces(status)) }];
  });
  const seen = answers.flat();
  const wrong = [...Map.groupBy(seen, ({ problem }) => problem)].flatMap(([problem, [first, ...more]]) => {
    if (first === undefined || problem === '') return [];
    const who = `The ${RESOURCE_MANAGER} in ${first.namespace}${more.length > 0 ? `, and ${more.length} more,` : ''}`;
    // The API server asks our webhook about each update, also one that changes nothing.
    const patch = ['patch', 'deployment', RESOURCE_MANAGER, '--type', 'merge', '--patch', '{}'];
    const remedy = first.isTooOld ? undefined : kubectl(patch, { ...patient, namespace: first.namespace });
    return [bad(`${who} ${problem}`, remedy)];
  });
  if (wrong.length > 0) return wrong;
  if (seen.length === 0) return unknown(`No Shoot here has a ${RESOURCE_MANAGER} now`);
  const all = seen.length === 1 ? 'The resource-manager' : `All ${seen.length} resource-managers`;
  const some = page.continue === undefined ? '' : ' that were looked at';
  return good(`${all}${some} may write into the namespaces of Flux`);
}

/** Asks the code of our webhook what it would add. @returns an empty text for nothing, and whether no update helps */
function problemOf(object: KubeObject, namespaces: string[]): { problem: string; isTooOld: boolean } {
  const request = { uid: '', operation: 'UPDATE', object };
  const left = leaveUnchanged(request);
  if (left !== undefined) {
    const why = (left.allowed && left.warnings?.[0]?.replace(/^.* was not added: /, '')) || 'its Deployment is odd';
    return { problem: `cannot get its argument, because ${why}; upgrade Gardener`, isTooOld: true };
  }
  const answer = addTargetNamespaces(request, { namespaces, warnings: [] });
  const flags = (answer.allowed ? (answer.patch ?? []) : []).flatMap(({ value }) => value);
  const problem = flags.length === 0 ? '' : `lacks ${flags.join(' ')}, so that Flux cannot be written there`;
  return { problem, isTooOld: false };
}

/** Returns the namespaces that the last plan has recorded. */
function recordedNamespaces(status: unknown): string[] {
  const applied = stateOf(fieldsAt(status, 'state'))?.applied;
  if (applied === undefined) return [];
  const { namespace, source, kustomization, others = [] } = applied;
  return [...new Set([namespace, ...[source, kustomization, ...others].flatMap((object) => object?.namespace ?? [])])];
}
