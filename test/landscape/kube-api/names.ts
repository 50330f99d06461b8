import { type FieldError, fieldError } from './errors.ts';
import { asObject, isObject, type JsonObject, type Meta } from './json.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** Validates name, labels and annotations. */
export function metadataErrors(group: string, plural: string, metadata: Meta): FieldError[] {
  const errors: FieldError[] = [];
  const { name } = metadata;
  if (group === 'rbac.authorization.k8s.io') {
    if (name === '.' || name === '..' || /[/%]/.test(name)) {
      errors.push(fieldError.invalid('metadata.name', name, "may not contain '/' or '%'"));
    }
  } else if (plural === 'namespaces' || plural === 'services') {
    if (name.length > 63) errors.push(fieldError.invalid('metadata.name', name, 'must be no more than 63 bytes'));
    if (!label.test(name)) errors.push(fieldError.invalid('metadata.name', name, labelText));
  } else {
    if (name.length > 253) errors.push(fieldError.invalid('metadata.name', name, 'must be no more than 253 bytes'));
    if (!subdomain.test(name)) errors.push(fieldError.invalid('metadata.name', name, subdomainText));
  }
  for (const [key, value] of Object.entries(asObject(metadata.labels))) {
    if (!isQualifiedName(key)) errors.push(fieldError.invalid('metadata.labels', key, nameText));
    const text = String(value);
    if (text.length > 63) errors.push(fieldError.invalid('metadata.labels', text, 'must be no more than 63 bytes'));
    if (!labelValue.test(text)) errors.push(fieldError.invalid('metadata.labels', text, valueText));
  }
  let size = 0;
  for (const [key, value] of Object.entries(asObject(metadata.annotations))) {
    if (!isQualifiedName(key.toLowerCase())) errors.push(fieldError.invalid('metadata.annotations', key, nameText));
    size += key.length + String(value).length;
  }
  if (size > 262_144) errors.push(fieldError.tooLong('metadata.annotations', 262_144));
  return errors;
}

const nameText =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

function isQualifiedName(key: string): boolean {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2 || name.length > 63 || !qualifiedName.test(name)) return false;
  return parts.length === 1 || subdomain.test(parts[0] ?? '');
}

/** Validates keys of Secrets and ConfigMaps. */
export function dataKeyErrors(object: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['data', 'binaryData']) {
    const data = object[field];
    if (!isObject(data)) continue;
    for (const key of Object.keys(data)) {
      if (!/^[-._a-zA-Z0-9]+$/.test(key) || key === '.' || key.startsWith('..') || key.length > 253) {
        errors.push(
          fieldError.invalid(
            `${field}[${key}]`,
            key,
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
          ),
        );
      }
    }
  }
  return errors;
}

const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns a name for `generateName`. */
export function generatedName(prefix: string): string {
  let suffix = '';
  for (let index = 0; index < 5; index++) suffix += alphabet[Math.floor(Math.random() * alphabet.length)];
  return `${prefix.slice(0, 58)}${suffix}`;
}
