import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { CrdSchema } from '../../../shared/flux/crd-schema.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';

/** What is known about the objects that a Shoot was released with. */
interface Released {
  previous: Applied | undefined;
  isBootstrapped: boolean;
  live: ReadonlyMap<string, ManagedResource>;
}

/**
 * True where source and Kustomization were released to the user, and no user has asked to follow the configuration again:
 * only the default of `syncMode` says so (decision 52).
 */
export function isAdoptedByDefault({ syncMode, origins }: EffectiveConfig, released: Released): boolean {
  const { previous, isBootstrapped, live } = released;
  const wasReleased = isBootstrapped && (previous === undefined || previous.syncMode === 'Once');
  // A ManagedResource that is being deleted is still on its way out.
  const sync = live.get(names.sync);
  const isManaged = sync !== undefined && sync.metadata.deletionTimestamp === undefined;
  return wasReleased && syncMode !== 'Once' && origins.syncMode === undefined && !isManaged;
}

/**
 * True when writing the wanted value would change nothing: beside it, the live one has only what the API server fills
 * in. Applied over a Kustomization that was changed in the shoot, even an unchanged configuration could make Flux prune
 * what that change has deployed.
 * @param schema of the value; undefined: it has no defaults
 */
export function isAsWritten(wanted: unknown, live: unknown, schema: CrdSchema | undefined): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) return false;
    return wanted.every((entry, index) => isAsWritten(entry, live[index], schema?.items));
  }
  if (!isObject(wanted) || !isObject(live)) return wanted === live;
  if (Object.keys(wanted).some((field) => !Object.hasOwn(live, field))) return false;
  return Object.entries(live).every(([field, value]) => {
    const below = schemaOf(schema, field);
    if (Object.hasOwn(wanted, field)) return isAsWritten(wanted[field], value, below);
    return below?.default !== undefined && isAsWritten(below.default, value, below);
  });
}

function schemaOf(schema: CrdSchema | undefined, field: string): CrdSchema | undefined {
  const { properties, additionalProperties } = schema ?? {};
  if (properties !== undefined && Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
