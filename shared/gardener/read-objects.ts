import type { KubeObject } from '../kube/resource.ts';
import { isOversized } from '../oversized.ts';
import { entriesAt, fieldsAt, fieldsOf, shapedObject, textAt, textListOf } from '../shapes.ts';
import type { ResourceReference } from './references.ts';
import type { Applied, Cluster, Extension, ExtensionStatus, ManagedResource, Shoot, ShootObject } from './types.ts';

/** Returns an Extension in its usual shape: only its CRD says what it holds, and its `state` has no schema. */
export function extensionOf(object: KubeObject): Extension {
  const extension = shapedObject(object) as Extension;
  const { spec, status } = extension;
  const type = textAt(spec, 'type') ?? '';
  const specClass = textAt(spec, 'class');
  const isSame = type === spec?.type && specClass === spec.class;
  const shapedSpec = isSame ? spec : { ...spec, type, ...(specClass !== undefined && { class: specClass }) };
  const shapedStatus = status && statusOf(status);
  if (isSame && shapedStatus === status) return extension;
  return { ...extension, spec: shapedSpec, ...(shapedStatus && { status: shapedStatus }) };
}

function statusOf(status: ExtensionStatus): ExtensionStatus {
  const state = fieldsOf(status.state);
  const applied = state && appliedOf(state.applied);
  const bootstrapped = fieldsAt(state, 'bootstrapped');
  const areSame =
    applied === state?.applied &&
    bootstrapped === state?.bootstrapped &&
    state === status.state &&
    (status.lastOperation === undefined || isLastOperation(status.lastOperation)) &&
    (status.providerStatus === undefined || fieldsOf(status.providerStatus) !== undefined) &&
    (status.lastError === undefined || status.lastError === null || isLastError(status.lastError)) &&
    (status.resources === undefined || areReferences(status.resources));
  if (areSame) return status;
  const { lastOperation, lastError, providerStatus, resources, state: _, ...rest } = status;
  return {
    ...rest,
    ...(isLastOperation(lastOperation) && { lastOperation }),
    ...(isLastError(lastError) && { lastError }),
    ...(fieldsOf(providerStatus) && { providerStatus }),
    ...(resources !== undefined && { resources: referencesOf(resources) }),
    ...(state && {
      state: withParts(state, {
        applied,
        bootstrapped,
        failingSince: textAt(state, 'failingSince'),
        upgradingTo: textAt(state, 'upgradingTo'),
        adopting: isList(state.adopting) ? (state.adopting as string[]) : undefined,
        unapplied: state.unapplied === true || undefined,
      }),
    }),
  } as ExtensionStatus;
}

function withParts(state: Record<string, unknown>, parts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries({ ...state, ...parts }).filter(([, part]) => part !== undefined));
}

function isLastOperation(value: unknown): boolean {
  return ['type', 'state', 'description', 'lastUpdateTime'].every((name) => textAt(value, name) !== undefined);
}

function isLastError(value: unknown): boolean {
  const codes = fieldsOf(value)?.codes;
  const areCodes = codes === undefined || (Array.isArray(codes) && codes.every((code) => typeof code === 'string'));
  return textAt(value, 'description') !== undefined && areCodes;
}

const optionalTexts = ['installed', 'problem', 'removalBegan', 'copiesHash', 'reconcileAt'] as const;
const appliedTexts = ['configHash', 'fluxVersion', 'namespace', 'syncMode'] as const;

/** Returns the record; undefined, as on a first run, when it is none: the objects are then read from the shoot. */
export function appliedOf(value: unknown): Applied | undefined {
  const applied = fieldsOf(value);
  if (applied === undefined || appliedTexts.some((name) => textAt(applied, name) === undefined)) return undefined;
  const { components, managedResources, objects, leaving, surplus } = applied;
  if (!isList(components) || !isMap(managedResources, isText) || !isMap(objects, isList)) return undefined;
  const isWell =
    (leaving === undefined || isList(leaving)) &&
    (surplus === undefined || isList(surplus)) &&
    optionalTexts.every((name) => applied[name] === undefined || isText(applied[name])) &&
    ['source', 'kustomization'].every((name) => applied[name] === undefined || isShootObject(applied[name]));
  if (isWell) return applied as unknown as Applied;
  const { source, kustomization, ...rest } = applied;
  const kept = {
    ...Object.fromEntries(optionalTexts.map((name) => [name, textAt(applied, name)])),
    source: isShootObject(source) ? source : undefined,
    kustomization: isShootObject(kustomization) ? kustomization : undefined,
    leaving: leaving === undefined ? undefined : textListOf(leaving),
    surplus: surplus === undefined ? undefined : textListOf(surplus),
  };
  return withParts({ ...rest, leaving: undefined, surplus: undefined }, kept) as unknown as Applied;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

function isMap(value: unknown, isValue: (inner: unknown) => boolean): boolean {
  const fields = fieldsOf(value);
  return fields !== undefined && Object.values(fields).every(isValue);
}

function isShootObject(value: unknown): value is ShootObject {
  return ['apiVersion', 'kind', 'namespace', 'name'].every((name) => textAt(value, name) !== undefined);
}

/** Returns a ManagedResource in its usual shape. */
export function managedResourceOf(object: KubeObject): ManagedResource {
  const resource = shapedObject(object) as ManagedResource;
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
  const cluster = shapedObject(object);
  const shoot = fieldsAt(cluster.spec, 'shoot');
  if (shoot === undefined || textAt(shoot, 'metadata', 'name') === undefined) return undefined;
  const shaped = shapedObject(shoot as unknown as KubeObject);
  const oversized = oversizedParts(shoot);
  const spec = { ...fieldsOf(cluster.spec), shoot: shootOf(shaped) };
  return { ...cluster, spec, ...(oversized.length > 0 && { oversized }) } as Cluster;
}

/** The paths of what the functions would otherwise take for absent. */
function oversizedParts({ spec }: Record<string, unknown>): string[] {
  if (isOversized(spec)) return ['spec'];
  const fields = fieldsOf(spec) ?? {};
  return ['extensions', 'resources', ...shootParts]
    .filter((name) => isOversized(fields[name]))
    .map((name) => `spec.${name}`);
}

/** The parts of a Shoot that hold fields of their own. */
const shootParts = ['kubernetes', 'provider', 'hibernation', 'networking', 'dns', 'cloudProfile', 'maintenance'];

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

function areReferences(value: unknown): boolean {
  return Array.isArray(value) && value.every(isReference);
}

function isReference(value: unknown): value is ResourceReference {
  const { name, kind, apiVersion } = fieldsAt(value, 'resourceRef') ?? {};
  return textAt(value, 'name') !== undefined && isText(name) && isText(kind) && isText(apiVersion);
}

function referencesOf(value: unknown): ResourceReference[] {
  return Array.isArray(value) ? value.filter(isReference) : [];
}
