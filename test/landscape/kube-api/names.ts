import { type FieldError, fieldError } from './errors.ts';
import { asObject, type JsonObject, type Meta } from './json.ts';

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
