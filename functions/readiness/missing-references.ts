import { secretUses } from '../../shared/config/listed/secret-uses.ts';
import { projectSecretNames } from '../../shared/config/project-config.ts';
import { managedResourceNames } from '../../shared/gardener/managed-resource.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { beginOf, safeText } from '../../shared/runtime/safe-text.ts';
import { entriesAt, fieldsAt, textAt } from '../../shared/shapes.ts';
import type { PodReport } from './controllers.ts';

/** A Secret or ConfigMap that a Pod cannot start without. */
export interface Reference {
  kind: 'Secret' | 'ConfigMap';
  name: string;
}

/** Kubernetes itself writes it into every namespace. */
const OWN = 'kube-root-ca.crt';

/**
 * Returns what Pods that wait for their containers cannot start without: what volumes and variables name. Only Events have
 * the kubelet's words about volumes (`MountVolume.SetUp failed`), so it is looked for.
 */
export function neededReferences(pods: readonly KubeObject[]): Reference[] {
  const found = pods
    .filter(isWaiting)
    .flatMap(({ metadata, spec }) =>
      secretUses({ apiVersion: 'v1', kind: 'Pod', metadata, spec }).flatMap(({ kind, name, path, isOptional }) =>
        isOptional || name === OWN || path.startsWith('spec.imagePullSecrets') ? [] : [{ kind, name }],
      ),
    );
  return [...new Map(found.map((one) => [`${one.kind} ${one.name}`, one])).values()];
}

/** The same Pod may wait for both: the first container for its volumes, another one for its variables. */
const WAITING: ReadonlySet<unknown> = new Set(['ContainerCreating', 'CreateContainerConfigError', 'PodInitializing']);

function statesOf({ status }: KubeObject) {
  const statuses = [...entriesAt(status, 'initContainerStatuses'), ...entriesAt(status, 'containerStatuses')];
  return statuses.map((one) => fieldsAt(one, 'state', 'waiting') ?? {});
}

function isWaiting(pod: KubeObject): boolean {
  return statesOf(pod).some(({ reason }) => WAITING.has(reason));
}

/** A variable names a key that is not there; of a volume, only Events say so. */
const LACKS_KEY = /couldn't find key (\S+) in (Secret|ConfigMap) \S+\/(\S+)/;

/**
 * Returns what Pods lack to start; undefined when they lack nothing that is known.
 * @param missing what they need and the shoot does not have; the first is named
 */
export function referenceReport(
  applied: Applied,
  pods: readonly KubeObject[],
  [missing]: readonly Reference[],
): PodReport | undefined {
  const messages = pods.flatMap(statesOf).map((state) => beginOf(textAt(state, 'message') ?? ''));
  const place = ({ kind, name }: Reference) => `${kind} ${applied.namespace}/${safeText(name)}`;
  if (missing !== undefined) {
    const sentence = `Pods of Flux do not start without ${place(missing)}, which the shoot does not have; ${remedy(missing, applied)}.`;
    const quoted = messages.find((message) => message.includes(`"${missing.name}" not found`)) ?? '';
    return report(sentence, quoted);
  }
  const quoted = messages.find((message) => LACKS_KEY.test(message)) ?? '';
  const [, key, kind, name = ''] = LACKS_KEY.exec(quoted) ?? [];
  if (key === undefined) return undefined;
  const lacking = place({ kind: kind as Reference['kind'], name });
  const sentence = `Pods of Flux do not start, because ${lacking} has no key ${safeText(key)}; add it to the original of the ${kind}, or correct ${placeOf(applied)}.`;
  return report(sentence, quoted);
}

function report(sentence: string, quoted: string): PodReport {
  return {
    reason: 'ReferenceMissing',
    subject: '',
    sentence,
    quoted: safeText(quoted),
    hasCause: true,
    needsUser: true,
  };
}

function remedy({ kind, name }: Reference, applied: Applied): string {
  const isOfProject = kind === 'Secret' && projectSecretNames.some((one) => one === name);
  if (isOfProject) return `create Secret ${name} in the project again`;
  return `copy it with additionalSecretResources, create it there, or correct ${placeOf(applied)}`;
}

/** Nothing but patches makes Pods name what they do not start without. */
function placeOf({ managedResources }: Applied): string {
  const isManaged = managedResources[managedResourceNames.controllers] !== undefined;
  return isManaged ? 'the entry of flux.patches that names it' : 'the Deployment in the shoot';
}
