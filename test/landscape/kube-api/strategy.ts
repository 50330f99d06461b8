import type { Definition } from './call.ts';
import { crdErrors, initialStatus } from './crd.ts';
import { type FieldError, fieldError } from './errors.ts';
import { type ApiObject, asObject, equal, type JsonObject, type Meta, withKey } from './json.ts';

/** Returns a new object as it is stored. */
export function prepareCreate(definition: Definition, object: ApiObject): ApiObject {
  let result = object;
  if (definition.status) result = withKey(result, 'status', undefined);
  if (definition.plural === 'namespaces' && !definition.custom) {
    const spec = asObject(result.spec);
    result = {
      ...result,
      spec: { ...spec, finalizers: spec.finalizers ?? ['kubernetes'] },
      status: { phase: 'Active' },
    };
  }
  if (definition.plural === 'customresourcedefinitions' && !definition.custom) {
    result = { ...result, status: initialStatus(result) };
  }
  const metadata = withKey(result.metadata, 'generation', definition.generation ? 1 : undefined);
  return { ...result, metadata };
}

/** Returns a changed object as it is stored: fields that this endpoint cannot change come from the old one. */
export function prepareUpdate(definition: Definition, subresource: string, old: ApiObject, next: ApiObject): ApiObject {
  let result = next;
  if (subresource === 'status') {
    const metadata = definition.custom
      ? withKey(old.metadata, 'managedFields', next.metadata.managedFields)
      : next.metadata;
    result = withKey({ ...old, apiVersion: next.apiVersion, metadata }, 'status', next.status);
  } else if (definition.status) {
    result = withKey(result, 'status', old.status);
  }
  if (definition.plural === 'namespaces' && !definition.custom) {
    // Clients do not remove the finalizers of a namespace.
    result = { ...result, spec: { ...asObject(next.spec), ...asObject(old.spec) } };
  }
  if (!definition.generation) return result;
  const generation = old.metadata.generation ?? 1;
  const bumped = subresource === 'status' || sameSpec(definition, old, result) ? generation : generation + 1;
  return { ...result, metadata: { ...result.metadata, generation: bumped } };
}

/** Returns the fields besides metadata, and without the status where it has an endpoint of its own. */
function sameSpec(definition: Definition, old: ApiObject, next: ApiObject): boolean {
  const relevant = (object: ApiObject): JsonObject => {
    const { metadata: _, apiVersion: __, ...rest } = object;
    // A Deployment's annotations change the generation, because its controller copies some of them.
    const counted = definition.plural === 'deployments' && !definition.custom ? object.metadata.annotations : undefined;
    return { ...(definition.status ? withKey(rest, 'status', undefined) : rest), metadata: counted };
  };
  return equal(relevant(old), relevant(next));
}

/** Validates an object beyond its schema. */
export function strategyErrors(definition: Definition, object: ApiObject, old?: ApiObject): FieldError[] {
  const errors = nameErrors(definition.group, object.metadata);
  if (definition.custom) return errors;
  if (definition.plural === 'customresourcedefinitions') return [...errors, ...crdErrors(object)];
  if (definition.group === 'apps') errors.push(...podTemplateErrors(object));
  if (old === undefined) return errors;
  if (definition.group === '' && (definition.plural === 'secrets' || definition.plural === 'configmaps')) {
    errors.push(...immutabilityErrors(definition, object, old));
  }
  const selectors = definition.group === 'apps' && !equal(asObject(old.spec).selector, asObject(object.spec).selector);
  if (selectors) errors.push(fieldError.invalid('spec.selector', asObject(object.spec).selector, 'field is immutable'));
  return errors;
}

function immutabilityErrors(definition: Definition, object: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const text = 'field is immutable when `immutable` is set';
  if (definition.plural === 'secrets' && old.type !== object.type) {
    errors.push(fieldError.invalid('type', object.type, 'field is immutable'));
  }
  if (old.immutable !== true) return errors;
  if (object.immutable !== true) errors.push(fieldError.forbidden('immutable', text));
  for (const field of ['data', 'binaryData']) {
    if (!equal(old[field], object[field])) errors.push(fieldError.forbidden(field, text));
  }
  return errors;
}

/** The rule of workloads: what they select are the Pods that they make. */
function podTemplateErrors({ spec }: ApiObject): FieldError[] {
  const { selector, template } = asObject(spec);
  const labels = asObject(asObject(asObject(template).metadata).labels);
  const wanted = Object.entries(asObject(asObject(selector).matchLabels));
  if (template === undefined || wanted.every(([key, value]) => labels[key] === value)) return [];
  return [fieldError.invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function nameErrors(group: string, { name }: Meta): FieldError[] {
  const isOfRbac = group === 'rbac.authorization.k8s.io';
  if (isOfRbac ? !/[/%]/.test(name) : name.length <= 253 && subdomain.test(name)) return [];
  const rule = isOfRbac ? "may not contain '/' or '%'" : 'a lowercase RFC 1123 subdomain has at most 253 characters';
  return [fieldError.invalid('metadata.name', name, rule)];
}
