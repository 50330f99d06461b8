import type { KubeObject } from '../client/client.ts';
import { annotations } from './references.ts';

type Labels = Record<string, string>;
type Fields = Record<string, unknown>;

export interface MergeOptions {
  origin: string;
  /** The object as applied last time, from `status.resources`. */
  old: { labels?: Labels; annotations?: Labels };
}

const DESCRIPTION = `DO NOT EDIT - This resource is managed by gardener-resource-manager.
Any modifications are discarded and the resource is returned to the original state.`;

/** Returns the object to write: the desired one, with the fields that the live one must keep (rule 3.4). */
export function mergeObject(
  desired: KubeObject,
  live: KubeObject | undefined,
  { origin, old }: MergeOptions,
): KubeObject {
  const { status: _, ...body } = structuredClone(desired);
  const { labels, annotations: marks } = desired.metadata;
  const merged: KubeObject = {
    ...body,
    metadata: {
      ...(live?.metadata ?? desired.metadata),
      labels: threeWay(labels, live?.metadata.labels, old.labels),
      annotations: {
        ...threeWay(marks, live?.metadata.annotations, old.annotations),
        [annotations.description]: DESCRIPTION,
        [annotations.origin]: origin,
      },
    },
    ...(live?.status === undefined ? {} : { status: live.status }),
  };
  // The API server has chosen the address of a Service, and refuses another one.
  const { clusterIP } = fieldsOf(live?.spec);
  if (merged.kind === 'Service' && clusterIP !== undefined) fieldsOf(merged.spec).clusterIP ??= clusterIP;
  return merged;
}

/** Removes entries that are no longer desired, unless their value changed since; entries of others stay. */
function threeWay(desired: Labels = {}, live: Labels = {}, old: Labels = {}): Labels {
  const merged = { ...live, ...desired };
  for (const [key, value] of Object.entries(old)) {
    if (live[key] === value && !(key in desired)) delete merged[key];
  }
  return merged;
}

/** Returns the fields of an object, and none of anything else. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Returns the object with labels on itself and its pod template. */
export function injectLabels(object: KubeObject, labels: Labels): KubeObject {
  const copy = structuredClone(object);
  copy.metadata.labels = { ...copy.metadata.labels, ...labels };
  const { template } = fieldsOf(copy.spec);
  if (template !== undefined) {
    const metadata = fieldsOf(fieldsOf(template).metadata);
    fieldsOf(template).metadata = { ...metadata, labels: { ...fieldsOf(metadata.labels), ...labels } };
  }
  return copy;
}
