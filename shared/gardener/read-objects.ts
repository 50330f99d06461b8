import { type KubeObject, resources } from '../kube/resource.ts';
import { entriesAt, fieldsAt, fieldsOf, foreignObject, textAt } from '../shapes.ts';
import type { ResourceReference } from './references.ts';
import { stateOf } from './state.ts';
import type { Cluster, Extension, ExtensionStatus, ManagedResource, Shoot } from './types.ts';

/** Returns an Extension in its usual shape: only its CRD says what it holds, and its `state` has no schema. */
export function extensionOf(object: KubeObject): Extension {
  const extension = object as Extension;
  const { spec, status } = extension;
  const specClass = textAt(spec, 'class');
  const { class: _, ...others } = spec ?? {};
  return {
    ...extension,
    spec: { ...others, type: textAt(spec, 'type') ?? '', ...(specClass !== undefined && { class: specClass }) },
    ...(status && { status: statusOf(status) }),
  };
}

function statusOf(status: ExtensionStatus): ExtensionStatus {
  const { lastOperation, lastError, providerStatus, resources, state, ...rest } = status;
  const shapedState = stateOf(state);
  return {
    ...rest,
    ...(isLastOperation(lastOperation) && { lastOperation }),
    ...((lastError === null || isLastError(lastError)) && { lastError }),
    ...(fieldsOf(providerStatus) && { providerStatus }),
    ...(resources !== undefined && { resources: referencesOf(resources) }),
    ...(shapedState && { state: shapedState }),
  } as ExtensionStatus;
}

function isLastOperation(value: unknown): boolean {
  return ['type', 'state', 'description', 'lastUpdateTime'].every((name) => textAt(value, name) !== undefined);
}

function isLastError(value: unknown): boolean {
  const codes = fieldsOf(value)?.codes;
  const areCodes = codes === undefined || (Array.isArray(codes) && codes.every((code) => typeof code === 'string'));
  return textAt(value, 'description') !== undefined && areCodes;
}

/** Returns a ManagedResource in its usual shape. */
export function managedResourceOf(object: KubeObject): ManagedResource {
  const resource = object as ManagedResource;
  const refs = resource.spec?.secretRefs;
  if (Array.isArray(refs) && refs.every((ref) => textAt(ref, 'name') !== undefined)) return resource;
  const named = entriesAt(resource.spec, 'secretRefs').filter((ref) => textAt(ref, 'name') !== undefined);
  return { ...resource, spec: { ...resource.spec, secretRefs: named as unknown as { name: string }[] } };
}

/**
 * Returns a Cluster in its usual shape: its CRD says nothing about the Shoot in it.
 * @returns undefined when it holds no Shoot
 */
export function clusterOf(object: KubeObject): Cluster | undefined {
  const shoot = fieldsAt(object.spec, 'shoot');
  const shaped = shoot && foreignObject(resources.shoots, { ...shoot });
  if (!shaped?.metadata.name) return undefined;
  return { ...object, spec: { ...fieldsOf(object.spec), shoot: shootOf(shaped) } } as Cluster;
}

/** The parts of a Shoot that hold fields of their own. */
const shootParts = ['kubernetes', 'provider', 'hibernation', 'networking', 'dns', 'cloudProfile', 'maintenance'];

/** Returns the fields with these parts, without those that are undefined. */
function withParts(fields: Record<string, unknown>, parts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...fields, ...parts }).filter(([, part]) => part !== undefined));
}

const statusTexts = ['technicalID', 'uid', 'clusterIdentity', 'seedName'];

function shootOf(shaped: KubeObject): Shoot {
  const spec = fieldsOf(shaped.spec);
  const status = fieldsOf(shaped.status);
  const parts = Object.fromEntries(shootParts.map((name) => [name, fieldsAt(spec, name)]));
  const texts = Object.fromEntries(statusTexts.map((name) => [name, textAt(status, name)]));
  const extensions = spec?.extensions === undefined ? undefined : entriesAt(spec, 'extensions');
  const resources = spec?.resources === undefined ? undefined : referencesOf(spec.resources);
  return {
    ...shaped,
    spec: spec && withParts(spec, { ...parts, extensions, resources }),
    status: status && withParts(status, { ...texts, lastOperation: fieldsAt(status, 'lastOperation') }),
  } as unknown as Shoot;
}

function isReference(value: unknown): value is ResourceReference {
  const { name, kind, apiVersion } = fieldsAt(value, 'resourceRef') ?? {};
  return textAt(value, 'name') !== undefined && [name, kind, apiVersion].every((one) => typeof one === 'string');
}

function referencesOf(value: unknown): ResourceReference[] {
  return Array.isArray(value) ? value.filter(isReference) : [];
}
