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
    // Only the finalize endpoint removes the finalizers of a namespace.
    const spec = subresource === 'finalize' ? asObject(next.spec) : { ...asObject(next.spec), ...asObject(old.spec) };
    result = { ...result, spec };
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
  const errors = metadataErrors(definition.group, definition.plural, object.metadata);
  if (definition.custom) return errors;
  if (definition.plural === 'customresourcedefinitions') return [...errors, ...crdErrors(object)];
  if (definition.group === '' && (definition.plural === 'secrets' || definition.plural === 'configmaps')) {
    errors.push(...dataKeyErrors(object));
    if (old !== undefined) errors.push(...immutabilityErrors(definition, object, old));
  }
  if (definition.group === 'apps') errors.push(...podTemplateErrors(object));
  if (old === undefined) return errors;
  if (definition.plural.endsWith('rolebindings') && !equal(old.roleRef, object.roleRef)) {
    errors.push(fieldError.invalid('roleRef', object.roleRef, 'cannot change roleRef'));
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
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** Validates name, labels and annotations. */
export function metadataErrors(group: string, plural: string, metadata: Meta): FieldError[] {
  const errors: FieldError[] = [];
  const require = (holds: boolean, field: string, value: string, rule: string) => {
    if (!holds) errors.push(fieldError.invalid(field, value, rule));
  };
  const { name } = metadata;
  if (group === 'rbac.authorization.k8s.io') {
    require(!/[/%]/.test(name), 'metadata.name', name, "may not contain '/' or '%'");
  } else {
    const isLabel = plural === 'namespaces' || plural === 'services';
    const most = isLabel ? 63 : 253;
    require(name.length <= most, 'metadata.name', name, `must be no more than ${most} bytes`);
    const text = `a lowercase RFC 1123 ${isLabel ? 'label' : 'subdomain'} must consist of lower case alphanumeric characters`;
    require((isLabel ? label : subdomain).test(name), 'metadata.name', name, text);
  }
  for (const [key, value] of Object.entries(asObject(metadata.labels))) {
    const text = String(value);
    require(isQualifiedName(key), 'metadata.labels', key, nameText);
    require(text.length <= 63, 'metadata.labels', text, 'must be no more than 63 bytes');
    require(labelValue.test(text), 'metadata.labels', text, 'a valid label must be an empty string or alphanumeric');
  }
  let size = 0;
  for (const [key, value] of Object.entries(asObject(metadata.annotations))) {
    require(isQualifiedName(key.toLowerCase()), 'metadata.annotations', key, nameText);
    size += key.length + String(value).length;
  }
  if (size > 262_144) errors.push(fieldError.tooLong('metadata.annotations', 262_144));
  return errors;
}

const nameText = "name part must consist of alphanumeric characters, '-', '_' or '.'";

function isQualifiedName(key: string): boolean {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2 || name.length > 63 || !qualifiedName.test(name)) return false;
  return parts.length === 1 || subdomain.test(parts[0] ?? '');
}

/** Validates keys of Secrets and ConfigMaps. */
export function dataKeyErrors(object: JsonObject): FieldError[] {
  const text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
  const isKey = (key: string) => /^[-._a-zA-Z0-9]{1,253}$/.test(key) && key !== '.' && !key.startsWith('..');
  return ['data', 'binaryData'].flatMap((field) =>
    Object.keys(asObject(object[field]))
      .filter((key) => !isKey(key))
      .map((key) => fieldError.invalid(`${field}[${key}]`, key, text)),
  );
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns a name for `generateName`. */
export function generatedName(prefix: string): string {
  let suffix = '';
  for (let index = 0; index < 5; index++) suffix += alphabet[Math.floor(Math.random() * alphabet.length)];
  return `${prefix.slice(0, 58)}${suffix}`;
}
