import { labelValue, metadataKey, namespaceName, tolerationKey } from '../../config/checks.ts';
import { quote } from '../../config/quote.ts';
import { wrongType, wrongValue } from '../../config/schema.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { entriesAt, fieldsAt, isRecord } from '../../shapes.ts';
import { type CrdSchema, type SchemaProblem, schemaProblems } from '../crd-schema.ts';

/**
 * Returns what is wrong with an object of the installation that an API server always refuses, or leaves out: it would only
 * show as an error of the resource-manager, or not at all. The tables have the fields of Kubernetes 1.35.
 */
export function fieldProblems(object: KubeObject): SchemaProblem[] {
  return schemaProblems(object.kind === 'Deployment' ? deployment : open({ metadata }), object, []);
}

type Check = NonNullable<CrdSchema['check']>;
type Fields = Record<string, CrdSchema>;

const schema = (fields: CrdSchema): CrdSchema => ({ nullable: true, ...fields });
/** Fields that are not looked into. */
const free = (names: string): Fields => Object.fromEntries(names.split(' ').map((name) => [name, {}]));
const object = (properties: Fields, required: string[] = [], check?: Check) =>
  schema({ type: 'object', properties, required, ...(check && { check }) });
/** An object that may have other fields. */
const open = (properties: Fields) =>
  schema({ type: 'object', properties, 'x-kubernetes-preserve-unknown-fields': true });
/** @param unique the field that no two entries may have in common */
const list = (items: CrdSchema, unique?: string) =>
  schema({ type: 'array', items, ...(unique !== undefined && { check: (value) => repeated(value, unique) }) });
const repeated = (list: unknown, field: string) => {
  const known = new Set();
  const values = entriesAt({ list }, 'list').flatMap((entry) => entry[field] ?? []);
  const again = values.find((value) => known.has(value) || !known.add(value));
  return again === undefined ? undefined : `has ${field} ${quote(String(again))} twice; remove one of them`;
};
const text = (check?: (text: string) => string | undefined) =>
  schema({
    type: 'string',
    ...(check && { check: (value) => (typeof value === 'string' ? check(value) : undefined) }),
  });
/** An empty text is the default. */
const choice = (...values: string[]) =>
  text((value) => (value === '' || values.includes(value) ? undefined : wrongValue(value, values)));
const integer = (minimum: number) => schema({ type: 'integer', minimum });
const boolean = schema({ type: 'boolean' });
/** Such as a port, which may also be named. */
const integerOr = (other: string) =>
  schema({
    check: (value) =>
      Number.isInteger(value) || typeof value === 'string'
        ? undefined
        : wrongType('integer', value).replace('an integer', `an integer or ${other}`),
  });
/** Fields of the same type. */
const fields = (type: CrdSchema, names: string): Fields =>
  Object.fromEntries(names.split(' ').map((name) => [name, type]));

const map = (keyProblem: (key: string) => string | undefined, values: CrdSchema) =>
  schema({
    type: 'object',
    properties: {},
    additionalProperties: values,
    check: (value) => (isRecord(value) ? Object.keys(value).flatMap((key) => keyProblem(key) ?? [])[0] : undefined),
  });

const labels = map(metadataKey, text(labelValue));
const annotations = map((key) => metadataKey(key.toLowerCase()), text());
const metadata = open({ labels, annotations });

const QUANTITY = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
const UNITS: Record<string, number> = { n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18 };

/** Returns the number that a quantity stands for; undefined: it is none. */
function amountOf(quantity: unknown): number | undefined {
  const [, number, unit = ''] = QUANTITY.exec(String(quantity)) ?? [];
  if (number === undefined) return undefined;
  if (/^[eE][+-]?\d/.test(unit)) return Number(number + unit);
  const factor = unit.endsWith('i') ? 1024 ** ('KMGTPE'.indexOf(unit.charAt(0)) + 1) : (UNITS[unit] ?? 1);
  return Number(number) * factor;
}

const quantity = schema({
  check: (value) => {
    const amount = amountOf(value);
    if (amount === undefined) return `${quote(String(value))} is not a quantity; use a form like 500m, 512Mi or 2Gi`;
    return amount < 0 ? `${quote(String(value))} is negative; use at least 0` : undefined;
  },
});

const resourceName = (name: string) =>
  /^(cpu|memory|ephemeral-storage|hugepages-.+|.+\/.+)$/.test(name)
    ? undefined
    : `${quote(name)} is not a resource of containers; use cpu, memory or ephemeral-storage`;

/** Returns the sentence for a request that an API server refuses because of its limit. */
const requestProblem: Check = (value) => {
  const [limits = {}, requests = {}] = ['limits', 'requests'].map((field) => fieldsAt(value, field));
  const name = Object.keys(requests).find((one) => {
    const limit = amountOf(limits[one]) ?? -1;
    return limit >= 0 && (amountOf(requests[one]) ?? 0) > limit;
  });
  return name && `has a request of ${requests[name]} ${name}, above the limit of ${limits[name]}; change one of them`;
};

const resources = object(
  { ...free('claims'), limits: map(resourceName, quantity), requests: map(resourceName, quantity) },
  [],
  requestProblem,
);

/** Controllers of Flux end at once when they cannot read a flag. */
const flag = (arg: string) => {
  const [, flagName, text] = /^--([a-z-]+)\s+(\S+)$/.exec(arg) ?? [];
  if (flagName !== undefined) return `${quote(arg)} has a space; write --${flagName}=${text}`;
  const [, name, value = ''] = /^--([a-z-]+)=([^$]*)$/.exec(arg) ?? [];
  if (name === undefined) return undefined;
  if (/^requeue-dependency$|-(ttl|interval|timeout|delay|duration|deadline|period)$/.test(name)) {
    const isDuration = /^-?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$/.test(value);
    return isDuration ? undefined : `${quote(arg)} has no duration; use units, for example --${name}=30s`;
  }
  return name === 'concurrent' && !/^\d+$/.test(value) ? `${quote(arg)} has no integer; write one` : undefined;
};

const label = (name: string) => namespaceName(name)?.replace('namespace name', 'name');

/** Fields of which an object has one; a strategic merge keeps the former one. */
const oneOf =
  (namesOf: (value: Record<string, unknown>) => readonly string[]): Check =>
  (value) => {
    const given = isRecord(value) ? namesOf(value).filter((name) => value[name]) : [];
    return given.length > 1 ? `has both ${given.join(' and ')}; set one of them to null` : undefined;
  };

const reference = open({ ...fields(text(), 'name key'), optional: boolean });

const variable = object(
  {
    ...fields(text(), 'name value'),
    valueFrom: open({
      ...fields(reference, 'secretKeyRef configMapKeyRef'),
      fieldRef: open({ fieldPath: text() }),
      resourceFieldRef: open({ resource: text() }),
    }),
  },
  ['name'],
  oneOf(() => ['value', 'valueFrom']),
);

const port = integerOr('a name');

const probe = open({
  ...fields(integer(0), 'initialDelaySeconds periodSeconds timeoutSeconds successThreshold failureThreshold'),
  exec: open({ command: list(text()) }),
  httpGet: open({ port, ...fields(text(), 'host path'), scheme: choice('HTTP', 'HTTPS') }),
  tcpSocket: open({ port }),
  grpc: open({ port: integer(1) }),
});

/** Of containers and of Pods. */
const securityContext = open({
  ...fields(integer(0), 'runAsUser runAsGroup fsGroup'),
  ...fields(boolean, 'runAsNonRoot readOnlyRootFilesystem allowPrivilegeEscalation privileged'),
  capabilities: open(fields(list(text()), 'add drop')),
  supplementalGroups: list(integer(0)),
  seccompProfile: open({ type: text() }),
});

const container = object(
  {
    ...free('resizePolicy restartPolicy restartPolicyRules terminationMessagePolicy volumeDevices'),
    ...fields(probe, 'livenessProbe readinessProbe startupProbe'),
    ...fields(boolean, 'stdin stdinOnce tty'),
    ...fields(text(), 'workingDir terminationMessagePath'),
    lifecycle: open({}),
    imagePullPolicy: choice('Always', 'IfNotPresent', 'Never'),
    securityContext,
    ports: list(open({ ...fields(integer(1), 'containerPort'), name: text(), protocol: choice('TCP', 'UDP', 'SCTP') })),
    envFrom: list(open({ ...fields(reference, 'secretRef configMapRef'), prefix: text() })),
    name: text(label),
    image: text((name) => (/^\S+$/.test(name) ? undefined : `${quote(name)} is not an image; correct it`)),
    command: list(text()),
    args: list(text(flag)),
    env: list(variable),
    resources,
    volumeMounts: list(open({ ...fields(text(), 'name mountPath subPath'), readOnly: boolean }), 'mountPath'),
  },
  ['name', 'image'],
);

const toleration = object({
  key: text((key) => (key === '' ? undefined : tolerationKey(key))),
  operator: choice('Exists', 'Equal', 'Lt', 'Gt'),
  value: text(),
  effect: choice('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
  tolerationSeconds: integer(Number.NEGATIVE_INFINITY),
});

const VOLUMES =
  'awsElasticBlockStore azureDisk azureFile cephfs cinder csi downwardAPI ephemeral fc flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume';

const files: Fields = {
  defaultMode: integer(0),
  optional: boolean,
  items: list(open({ ...fields(text(), 'key path'), mode: integer(0) })),
};

const volume = object(
  {
    ...fields(open({}), VOLUMES),
    name: text(label),
    emptyDir: open({ medium: text(), sizeLimit: quantity }),
    persistentVolumeClaim: open({ claimName: text(), readOnly: boolean }),
    projected: open({ sources: list(open({})) }),
    // A Secret is named by another field than a ConfigMap.
    secret: object({ ...files, secretName: text() }),
    configMap: object({ ...files, name: text() }),
  },
  ['name'],
  oneOf((one) => Object.keys(one).filter((name) => name !== 'name')),
);

/** What a container mounts must be a volume of the Pod. */
const mountProblem: Check = (pod) => {
  const names = entriesAt(pod, 'volumes').map(({ name }) => name);
  const mounted = ['initContainers', 'containers']
    .flatMap((field) => entriesAt(pod, field))
    .flatMap((one) => entriesAt(one, 'volumeMounts'));
  const missing = mounted.find(({ name }) => typeof name === 'string' && !names.includes(name));
  return (
    missing &&
    `has no volume ${quote(String(missing.name))}, which is mounted; keep it, and add your own with op: add, path: /spec/template/spec/volumes/-`
  );
};

const terms = open({ matchExpressions: list(open({ ...fields(text(), 'key operator'), values: list(text()) })) });

const affinity = open({
  nodeAffinity: open({
    requiredDuringSchedulingIgnoredDuringExecution: open({ nodeSelectorTerms: list(terms) }),
    preferredDuringSchedulingIgnoredDuringExecution: list(open({ weight: integer(1), preference: terms })),
  }),
  ...fields(open({}), 'podAffinity podAntiAffinity'),
});

const constraint = open({
  maxSkew: integer(1),
  topologyKey: text(),
  whenUnsatisfiable: choice('DoNotSchedule', 'ScheduleAnyway'),
  labelSelector: open({}),
});

const pod = object(
  {
    ...free('activeDeadlineSeconds ephemeralContainers os overhead preemptionPolicy readinessGates resourceClaims'),
    ...free('resources schedulingGates workloadRef'),
    ...fields(text(), 'hostname hostnameOverride nodeName priorityClassName runtimeClassName schedulerName subdomain'),
    ...fields(text(), 'serviceAccount serviceAccountName'),
    ...fields(boolean, 'automountServiceAccountToken enableServiceLinks hostIPC hostNetwork hostPID hostUsers'),
    ...fields(boolean, 'setHostnameAsFQDN shareProcessNamespace'),
    affinity,
    dnsConfig: open(fields(list(text()), 'nameservers searches')),
    dnsPolicy: choice('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'),
    hostAliases: list(open({ ip: text(), hostnames: list(text()) })),
    imagePullSecrets: list(open({ name: text() })),
    priority: integer(Number.NEGATIVE_INFINITY),
    // The Pods of a Deployment always start again.
    restartPolicy: choice('Always'),
    securityContext,
    topologySpreadConstraints: list(constraint),
    containers: list(container, 'name'),
    initContainers: list(container, 'name'),
    nodeSelector: map(metadataKey, text(labelValue)),
    terminationGracePeriodSeconds: integer(0),
    tolerations: list(toleration),
    volumes: list(volume, 'name'),
  },
  ['containers'],
  mountProblem,
);

const deployment = object({
  ...free('apiVersion kind status'),
  metadata,
  spec: object(
    {
      ...free('selector'),
      ...fields(integer(0), 'minReadySeconds progressDeadlineSeconds replicas revisionHistoryLimit'),
      paused: boolean,
      strategy: open({
        type: choice('RollingUpdate', 'Recreate'),
        rollingUpdate: open(fields(integerOr('a percentage'), 'maxSurge maxUnavailable')),
      }),
      template: object({ metadata, spec: pod }),
    },
    ['template'],
  ),
});
