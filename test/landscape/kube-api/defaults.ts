import { withCrdDefaults } from './crd.ts';
import type { Definition } from './definition.ts';
import { badRequest } from './errors.ts';
import { type ApiObject, asObject, asString, isObject } from './json.ts';

/** The few defaults of built-in types that programs in this landscape read. */
export function withBuiltInDefaults(definition: Definition, object: ApiObject): ApiObject {
  switch (`${definition.group}/${definition.plural}`) {
    case '/secrets':
      return { ...withStringData(object), type: asString(object.type) || 'Opaque' };
    case 'apiextensions.k8s.io/customresourcedefinitions':
      return withCrdDefaults(object);
    case '/namespaces': {
      const labels = { ...asObject(object.metadata.labels), 'kubernetes.io/metadata.name': object.metadata.name };
      return { ...object, metadata: { ...object.metadata, labels } };
    }
    case 'apps/deployments':
      return { ...object, spec: { replicas: 1, ...asObject(object.spec) } };
    default:
      return object;
  }
}

/** Moves `stringData` into `data`. */
function withStringData(secret: ApiObject): ApiObject {
  for (const [key, value] of Object.entries(asObject(secret.data))) {
    if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(asString(value))) continue;
    throw badRequest(`Secret in version "v1" cannot be handled as a Secret: illegal base64 data in ${key}`);
  }
  const { stringData, ...rest } = secret;
  if (!isObject(stringData)) return secret;
  const encoded = Object.entries(stringData).map(([key, value]) => [
    key,
    Buffer.from(String(value)).toString('base64'),
  ]);
  return { ...rest, data: { ...asObject(rest.data), ...Object.fromEntries(encoded) } } as ApiObject;
}
