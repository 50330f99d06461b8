import type { Definition } from './definition.ts';
import { type ApiObject, asArray, asObject, asString, isObject, type JsonObject } from './json.ts';

/** The few defaults of built-in types that somebody in this landscape reads. */
export function withBuiltInDefaults(definition: Definition, object: ApiObject): ApiObject {
  switch (`${definition.group}/${definition.plural}`) {
    case '/secrets':
      return { ...object, type: asString(object.type) || 'Opaque' };
    case '/namespaces':
      return {
        ...object,
        metadata: {
          ...object.metadata,
          labels: { ...asObject(object.metadata.labels), 'kubernetes.io/metadata.name': object.metadata.name },
        },
        spec: { ...asObject(object.spec), finalizers: asObject(object.spec).finalizers ?? ['kubernetes'] },
        status: { phase: 'Active', ...asObject(object.status) },
      };
    case '/services':
      return { ...object, spec: serviceSpec(asObject(object.spec)) };
    case '/pods':
      return { ...object, spec: podSpec(asObject(object.spec)) };
    case 'apps/deployments':
      return { ...object, spec: deploymentSpec(asObject(object.spec)) };
    default:
      return object;
  }
}

function serviceSpec(spec: JsonObject): JsonObject {
  const ports = asArray(spec.ports).map((port) =>
    isObject(port) ? { protocol: 'TCP', targetPort: port.port ?? null, ...port } : port,
  );
  return { sessionAffinity: 'None', type: 'ClusterIP', ...spec, ...(ports.length > 0 && { ports }) };
}

function deploymentSpec(spec: JsonObject): JsonObject {
  const template = asObject(spec.template);
  return {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
    ...spec,
    template: { ...template, spec: podSpec(asObject(template.spec)) },
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
    ...(ports.length > 0 && { ports }),
  };
}
