import * as z from 'zod/mini';
import { type KubeObject, resources } from '../kube/resource.ts';
import { entriesAt, fieldsAt, fieldsOf, foreignObject, isRecord, textAt } from '../shapes.ts';
import type { ResourceReference } from './references.ts';
import { stateOf } from './state.ts';
import type { Cluster, Extension, ManagedResource } from './types.ts';

const text = z.string();
const orAbsent = <T extends z.ZodMiniType>(type: T) => z.catch(z.optional(type), undefined);
const fields = orAbsent(z.custom(isRecord));
const entries = z.optional(z.transform((list: unknown) => entriesAt(list)));
const references = z.optional(z.transform((list: unknown) => entriesAt(list).filter(isReference)));

function isReference(value: unknown): value is ResourceReference {
  const { name, kind, apiVersion } = fieldsAt(value, 'resourceRef') ?? {};
  return textAt(value, 'name') !== undefined && [name, kind, apiVersion].every((one) => typeof one === 'string');
}

const extension = z.looseObject({
  spec: z.catch(z.looseObject({ type: z.catch(text, ''), class: orAbsent(text) }), { type: '' }),
  status: z.optional(
    z.looseObject({
      lastOperation: orAbsent(z.looseObject({ type: text, state: text, description: text, lastUpdateTime: text })),
      lastError: orAbsent(z.nullable(z.looseObject({ description: text, codes: z.optional(z.array(text)) }))),
      ...{ providerStatus: fields, resources: references, state: z.optional(z.transform(stateOf)) },
    }),
  ),
});

/** Returns an Extension in its usual shape: only its CRD says what it holds, and its `state` has no schema. */
export function extensionOf(object: KubeObject): Extension {
  return extension.parse(object) as unknown as Extension;
}

/** Returns a ManagedResource in its usual shape. */
export function managedResourceOf(object: KubeObject): ManagedResource {
  const secretRefs = entriesAt(object.spec, 'secretRefs').filter((ref) => textAt(ref, 'name') !== undefined);
  return { ...object, spec: { ...fieldsOf(object.spec), secretRefs } } as unknown as ManagedResource;
}

const shoot = z.looseObject({
  spec: z.optional(
    z.looseObject({
      ...{ kubernetes: fields, provider: fields, hibernation: fields, networking: fields, dns: fields },
      ...{ cloudProfile: fields, maintenance: fields, extensions: entries, resources: references },
    }),
  ),
  status: z.optional(
    z.looseObject({
      ...{ technicalID: orAbsent(text), uid: orAbsent(text), clusterIdentity: orAbsent(text) },
      ...{ seedName: orAbsent(text), lastOperation: fields },
    }),
  ),
});

/**
 * Returns a Cluster in its usual shape: its CRD says nothing about the Shoot in it.
 * @returns undefined when it holds no Shoot
 */
export function clusterOf(object: KubeObject): Cluster | undefined {
  const written = fieldsAt(object.spec, 'shoot');
  const shaped = written && foreignObject(resources.shoots, { ...written });
  if (!shaped?.metadata.name) return undefined;
  return { ...object, spec: { ...fieldsOf(object.spec), shoot: shoot.parse(shaped) } } as unknown as Cluster;
}
