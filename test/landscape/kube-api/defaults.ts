import { withCrdDefaults } from './crd.ts';
import type { Definition } from './definition.ts';
import { badRequest } from './errors.ts';
import { type ApiObject, asArray, asObject, asString, isObject, type JsonObject } from './json.ts';

/** The few defaults of built-in types that programs in this landscape read. */
export function withBuiltInDefaults(definition: Definition, object: ApiObject): ApiObject {
  switch (`${definition.group}/${definition.plural}`) {
    case '/secrets':
      return { ...withStringData(object), type: asString(object.type) || 'Opaque' };
    case 'apiextensions.k8s.io/customresourcedefinitions':
      return withCrdDefaults(object);
    case '/namespaces':
      return {
        ...object,
        metadata: {
          ...object.metadata,
          labels: { ...asObject(object.metadata.labels), 'kubernetes.io/metadata.name': object.metadata.name },
        },
      };
    case '/services':
      return { ...object, spec: serviceSpec(asObject(object.spec)) };
    case '/pods':
      return { ...object, spec: podSpec(asObject(object.spec)) };
    case 'apps/deployments':
      return { ...object, spec: deploymentSpec(withTemplate(asObject(object.spec))) };
    case 'apps/daemonsets':
    case 'apps/statefulsets':
    case 'apps/replicasets':
    case 'batch/jobs':
      return { ...object, spec: withTemplate(asObject(object.spec)) };
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

function serviceSpec(spec: JsonObject): JsonObject {
  const ports = asArray(spec.ports).map((port) =>
    isObject(port) ? { protocol: 'TCP', targetPort: port.port ?? null, ...port } : port,
  );
  return { sessionAffinity: 'None', type: 'ClusterIP', ...spec, ...(ports.length > 0 && { ports }) };
}

function withTemplate(spec: JsonObject): JsonObject {
  if (!isObject(spec.template)) return spec;
  return { ...spec, template: { ...spec.template, spec: podSpec(asObject(spec.template.spec)) } };
}

function deploymentSpec(spec: JsonObject): JsonObject {
  const rolling: JsonObject = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } };
  return {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    ...spec,
    strategy: asString(asObject(spec.strategy).type) === '' ? rolling : asObject(spec.strategy),
  };
}

function podSpec(spec: JsonObject): JsonObject {
  return {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',

    ...spec,
    containers: asArray(spec.containers).map((container) => (isObject(container) ? containerOf(container) : container)),
  };
}

function withProbes(container: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = container[key];
    if (!isObject(probe)) continue;
    const { httpGet } = probe;
    const defaults = { failureThreshold: 3, periodSeconds: 10, successThreshold: 1, timeoutSeconds: 1 };
    result[key] = { ...defaults, ...probe, ...(isObject(httpGet) && { httpGet: { scheme: 'HTTP', ...httpGet } }) };
  }
  return result;
}

function containerOf(container: JsonObject): JsonObject {
  const image = asString(container.image);
  const latest = !image.includes('@') && (!/:[^/]*$/.test(image) || image.endsWith(':latest'));
  const ports = asArray(container.ports).map((port) => (isObject(port) ? { protocol: 'TCP', ...port } : port));
  return {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
    ...container,
    ...withProbes(container),
    ...(ports.length > 0 && { ports }),
  };
}
