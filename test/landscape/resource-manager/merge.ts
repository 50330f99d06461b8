import type { KubeObject } from '../client/client.ts';
import { groupOf } from './references.ts';
import { annotations } from './types.ts';

type Labels = Record<string, string>;
type Fields = Record<string, unknown>;

export interface MergeOptions {
  origin: string;
  /** The object as applied last time, from `status.resources`. */
  old: { labels?: Labels; annotations?: Labels };
  forceOverwriteLabels: boolean;
  forceOverwriteAnnotations: boolean;
  /** True when a HorizontalPodAutoscaler scales it. */
  scaled: boolean;
}

const DESCRIPTION = `DO NOT EDIT - This resource is managed by gardener-resource-manager.
Any modifications are discarded and the resource is returned to the original state.`;

/** Returns the object to write: the desired one, with the fields that the live one must keep (rule 3.4). */
export function mergeObject(desired: KubeObject, live: KubeObject | undefined, options: MergeOptions): KubeObject {
  const labels = options.forceOverwriteLabels
    ? desired.metadata.labels
    : threeWay(desired.metadata.labels, live?.metadata.labels, options.old.labels);
  const marks = options.forceOverwriteAnnotations
    ? desired.metadata.annotations
    : threeWay(desired.metadata.annotations, withoutReferences(live?.metadata.annotations), options.old.annotations);
  const { status, ...body } = structuredClone(desired);
  const { ownerReferences } = desired.metadata as { ownerReferences?: unknown };
  const merged: KubeObject = {
    ...body,
    metadata: {
      ...(live?.metadata ?? desired.metadata),
      ...(labels === undefined ? {} : { labels }),
      annotations: { ...marks, [annotations.description]: DESCRIPTION, [annotations.origin]: options.origin },
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    ...(live?.status === undefined ? {} : { status: live.status }),
  };
  if (labels === undefined) delete merged.metadata.labels;
  if (ownerReferences === undefined) delete (merged.metadata as { ownerReferences?: unknown }).ownerReferences;
  if (live !== undefined) keepOfKind(merged, live, options);
  return merged;
}

/** Removes entries that are no longer desired, unless their value changed since; entries of others stay. */
function threeWay(desired: Labels = {}, live: Labels = {}, old: Labels = {}): Labels | undefined {
  const merged = { ...live, ...desired };
  for (const [key, value] of Object.entries(old)) {
    if (live[key] === value && !(key in desired)) delete merged[key];
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

/** Removes references for the garbage collector that the desired object does not have. */
function withoutReferences(entries: Labels = {}): Labels {
  return Object.fromEntries(
    Object.entries(entries).filter(([key]) => !key.startsWith('reference.resources.gardener.cloud/')),
  );
}

function keepOfKind(merged: KubeObject, live: KubeObject, { scaled }: MergeOptions): void {
  const marks = merged.metadata.annotations ?? {};
  const spec = fieldsOf(merged.spec);
  const old = fieldsOf(live.spec);
  const keepReplicas = scaled || marks[annotations.preserveReplicas] === 'true';
  const keepResources = marks[annotations.preserveResources] === 'true';
  switch (`${groupOf(merged.apiVersion)}/${merged.kind}`) {
    case 'apps/Deployment':
    case 'apps/StatefulSet':
      if (spec.replicas === undefined || keepReplicas) spec.replicas = old.replicas;
      if (merged.kind === 'StatefulSet') spec.volumeClaimTemplates = old.volumeClaimTemplates;
      keepPodTemplate(fieldsOf(spec.template), fieldsOf(old.template), keepResources);
      break;
    case 'apps/DaemonSet':
      keepPodTemplate(fieldsOf(spec.template), fieldsOf(old.template), keepResources);
      break;
    case 'batch/Job':
      spec.selector ??= old.selector;
      keepJobLabels(fieldsOf(spec.template), fieldsOf(old.template));
      keepPodTemplate(fieldsOf(spec.template), fieldsOf(old.template), keepResources);
      break;
    case '/Service':
      keepService(spec, old);
      break;
    case '/ServiceAccount':
      merged.secrets = live.secrets;
      merged.imagePullSecrets = live.imagePullSecrets;
      break;
  }
}

const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

function keepPodTemplate(template: Fields, old: Fields, keepResources: boolean): void {
  const restartedAt = fieldsOf(fieldsOf(old.metadata).annotations)[RESTARTED_AT];
  if (restartedAt !== undefined) {
    const metadata = fieldsOf(template.metadata);
    metadata.annotations = { [RESTARTED_AT]: restartedAt, ...fieldsOf(metadata.annotations) };
    template.metadata = metadata;
  }
  if (!keepResources) return;
  const oldContainers = listOf(fieldsOf(old.spec).containers);
  for (const container of listOf(fieldsOf(template.spec).containers)) {
    const same = oldContainers.find(({ name }) => name === container.name);
    if (same !== undefined) container.resources = same.resources;
  }
}

function keepJobLabels(template: Fields, old: Fields): void {
  const metadata = fieldsOf(template.metadata);
  metadata.labels = { ...fieldsOf(fieldsOf(old.metadata).labels), ...fieldsOf(metadata.labels) };
  template.metadata = metadata;
}

function keepService(spec: Fields, old: Fields): void {
  const type = spec.type ?? 'ClusterIP';
  if (type === 'ExternalName') return;
  if (type === 'LoadBalancer' || type === 'NodePort') {
    const oldPorts = listOf(old.ports);
    for (const port of listOf(spec.ports)) {
      const same = oldPorts.find((other) => other.port === port.port || other.name === port.name);
      if (port.nodePort === undefined && same?.nodePort !== undefined) port.nodePort = same.nodePort;
    }
    spec.loadBalancerIP ??= old.loadBalancerIP;
  }
  if (spec.clusterIP !== 'None' && old.type !== 'ExternalName') {
    spec.clusterIP = old.clusterIP;
    spec.clusterIPs = old.clusterIPs;
  }
  if (type === 'LoadBalancer' && old.type === type && old.externalTrafficPolicy === 'Local') {
    spec.healthCheckNodePort ??= old.healthCheckNodePort;
  }
}

/** Returns the fields of an object, and none of anything else. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the object with labels on itself, its pod template and its volume claim templates. */
export function injectLabels(object: KubeObject, labels: Labels): KubeObject {
  const copy = structuredClone(object);
  copy.metadata.labels = { ...copy.metadata.labels, ...labels };
  const spec = fieldsOf(copy.spec);
  const templates = [spec.template, ...listOf(spec.volumeClaimTemplates)];
  for (const template of templates.filter((entry) => entry !== undefined).map(fieldsOf)) {
    const metadata = fieldsOf(template.metadata);
    template.metadata = { ...metadata, labels: { ...fieldsOf(metadata.labels), ...labels } };
  }
  return copy;
}
