import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { stringify } from 'yaml';
import type { CreationWebhook, User } from './call.ts';
import { loopbackCertificate } from './certificate.ts';
import { startCrdController } from './crd.ts';
import { catches, type RequestMatch } from './faults.ts';
import type { ApiObject, JsonObject } from './json.ts';
import { startGarbageCollector, startNamespaceController } from './namespace-controller.ts';
import { Objects } from './objects.ts';
import { Registry } from './registry.ts';
import { Handler, type OnRequest } from './server.ts';

export type { Creation, CreationWebhook } from './call.ts';
export type { Fault, FaultAction, Faults, RequestMatch, RequestSummary } from './faults.ts';
export type { ApiObject, JsonObject } from './json.ts';
export type { LoggedRequest, OnRequest } from './server.ts';
export { useClock } from './time.ts';

export interface KubeApiOptions {
  /** Users by their bearer tokens. @default one administrator, whose token is `KubeApi.token` */
  tokens?: Readonly<Record<string, { name: string; groups?: readonly string[] }>>;
  /** `RBAC`: roles and bindings decide; otherwise every known token may do everything. @default 'AlwaysAllow' */
  authorization?: 'AlwaysAllow' | 'RBAC';
  /** Empties and removes namespaces that are being deleted. @default false: an API server alone does not */
  namespaceController?: boolean;
  /** Ends foreground deletions. @default false */
  garbageCollector?: boolean;
  /** Asked about each creation by a request; what exists from the start, or a test creates without HTTP, is none. */
  webhooks?: readonly CreationWebhook[];
  /** Objects that exist from the start, for example CRDs. */
  objects?: readonly JsonObject[];
  /** Awaited before each request is carried out: a test can change objects between two requests. */
  onRequest?: OnRequest;
}

/** A running embedded API server. */
export type KubeApi = Awaited<ReturnType<typeof startKubeApi>>;

/** Starts an API server in this process, on loopback and with TLS. */
export async function startKubeApi(options: KubeApiOptions = {}) {
  const registry = new Registry();
  const objects = new Objects(registry);
  const token = 'administrator';
  const users = new Map<string, User>([[token, { name: 'admin', groups: ['system:masters', 'system:authenticated'] }]]);
  for (const [secret, { name, groups = [] }] of Object.entries(options.tokens ?? {})) {
    users.set(secret, { name, groups: [...groups, 'system:authenticated'] });
  }

  const resumeCrds = startCrdController(registry);
  for (const object of bootstrapObjects) objects.create(object);
  for (const object of options.objects ?? []) objects.create(object as ApiObject);
  // As on a real server, history begins when the server has started.
  for (const { store } of registry.all()) store.compact();
  if (options.garbageCollector) startGarbageCollector(registry);
  const namespaces = options.namespaceController ? startNamespaceController(registry) : undefined;

  const handler = new Handler({
    registry,
    users,
    rbac: options.authorization === 'RBAC',
    webhooks: options.webhooks ?? [],
    onRequest: options.onRequest,
  });
  const { cert, key } = loopbackCertificate();
  const listener: RequestListener = (request, response) => void handler.handle(request, response);
  const server = createServer({ cert, key }, listener);
  // A test may hold a request without a time limit.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    namespaces?.stop();
    for (const open of [...handler.watches]) open.close();
    // `closeAllConnections` misses a connection whose handshake is still going on. It could begin a watch, which nothing
    // would end.
    server.on('secureConnection', (socket) => socket.destroy());
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url,
    /** PEM of the authority that signed the server's certificate. */
    ca: cert,
    /** The administrator's token. */
    token,
    /** For kubectl and client-node; default: the administrator's. */
    kubeconfig: (secret = token) => kubeconfigOf(url, cert, secret),
    /** Access to the objects without HTTP, for the set-up and the assertions of tests. */
    objects,
    faults: handler.faults,
    /** Every request since the start or the last clear. */
    requests: handler.requests,
    /** Returns the matching requests. */
    requestsLike: (match: RequestMatch) => handler.requests.filter((request) => catches(match, request)),
    /** Returns the open watches, all or those of one resource. */
    watches: (plural?: string) =>
      [...handler.watches].filter(({ call }) => plural === undefined || call.definition.plural === plural),
    /** Forgets history: answers older watches and continue tokens with 410. */
    compact: () => {
      for (const { store } of registry.all()) store.compact();
    },
    /** Remembers all objects. @returns a function that restores them, any number of times, without events for watches */
    checkpoint() {
      const bringBack = registry.checkpoint();
      return () => {
        bringBack();
        resumeCrds();
        namespaces?.resume();
      };
    },
    /** Increases with every change of any object. */
    revision: () => registry.clock.revision,
    /** Breaks all connections. */
    breakConnections: () => server.closeAllConnections(),
    /** Answers a request without the server: for clients in this process that do not open connections. */
    listener,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

const bootstrapObjects: ApiObject[] = [
  ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })),
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'cluster-admin' },
    rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'cluster-admin' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:masters' }],
  },
];

function kubeconfigOf(server: string, ca: string, token: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'embedded',
    contexts: [{ name: 'embedded', context: { cluster: 'embedded', user: 'embedded', namespace: 'default' } }],
    clusters: [
      { name: 'embedded', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'embedded', user: { token } }],
  });
}
