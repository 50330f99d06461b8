import { randomBytes } from 'node:crypto';
import { expect, type TestContext, test, vi } from 'vitest';
import { ConformanceClient, type ConformanceServer } from './client.ts';

/** The server under test, for all tests. */
export class Context {
  readonly client: ConformanceClient;
  readonly server: ConformanceServer;
  /** API group of the suite's own CRDs. */
  readonly group = `${unique()}.example.com`;

  constructor(server: ConformanceServer) {
    this.server = server;
    this.client = new ConformanceClient(server);
  }

  thing(name: string, spec: object, metadata: object = {}): object {
    return { apiVersion: `${this.group}/v1`, kind: 'Thing', metadata: { name, ...metadata }, spec };
  }
}

/** What a test gets: the context, and an empty namespace of its own. */
export interface Place extends Pick<Context, 'client' | 'server' | 'group'> {
  namespace: string;
  /** The paths of the ConfigMaps, Secrets, Deployments and Things (see `things.ts`) in the namespace. */
  configMaps: string;
  secrets: string;
  deployments: string;
  things: string;
  thing: Context['thing'];
  skip: TestContext['skip'];
}

/** Defines a test. */
export type Test = (title: string, check: (place: Place) => Promise<unknown>) => void;

export const testOn =
  (context: () => Context): Test =>
  (title, check) =>
    test(title, async ({ skip }) => {
      const { client, server, group } = context();
      const namespace = unique();
      const { code } = await client.post('/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace },
      });
      expect(code).toBe(201);
      const core = `/api/v1/namespaces/${namespace}`;
      await check({
        ...{ client, server, group, namespace, skip },
        configMaps: `${core}/configmaps`,
        secrets: `${core}/secrets`,
        deployments: `/apis/apps/v1/namespaces/${namespace}/deployments`,
        things: `/apis/${group}/v1/namespaces/${namespace}/things`,
        thing: (...parts) => context().thing(...parts),
      });
    });

export const unique = () => `t${randomBytes(5).toString('hex')}`;

export const configMap = (name: string, data?: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...(data && { data }),
});

export const deployment = (containers: object[] = [{ name: 'one', image: 'x:1' }], more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
    ...more,
  },
});

/** An answer with 422 that names the field. */
export const invalid = (field: string, reason?: string) => ({
  code: 422,
  body: { reason: 'Invalid', details: { causes: [{ field, ...(reason && { reason }) }] } },
});

export const badRequest = { code: 400, body: { reason: 'BadRequest' } };

/** Retries until the check holds: some effects on a real API server take a moment. */
export const eventually = (check: () => Promise<unknown>) => vi.waitFor(check, { timeout: 240_000, interval: 100 });

const conditions = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type'],
    properties: { type: { type: 'string' }, status: { type: 'string' } },
  },
};

const spec = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer' },
    mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
    name: { type: 'string' },
    list: { type: 'array', items: { type: 'string' } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    port: { 'x-kubernetes-int-or-string': true },
    nothing: { type: 'string', nullable: true },
    nested: { type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } } },
    atom: {
      type: 'object',
      'x-kubernetes-map-type': 'atomic',
      properties: { x: { type: 'string' }, y: { type: 'string' } },
    },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    items: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, value: { type: 'string' } },
      },
    },
  },
};

const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { conditions } };

/** Returns a CRD whose schema has the features of Gardener's and Flux' CRDs. */
export function crd(group: string, kind: string, scope: 'Namespaced' | 'Cluster'): object {
  const plural = `${kind.toLowerCase()}s`;
  const version = (name: string, storage: boolean) => ({
    name,
    storage,
    served: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
    subresources: { status: {} },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural },
      versions: [version('v1', true), version('v1beta1', false)],
    },
  };
}

export const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Creates a CRD and waits until its objects are served. */
export async function install({ client }: Pick<Context, 'client'>, definition: object): Promise<void> {
  const { code, body } = await client.post(crdPath, definition);
  expect(code, JSON.stringify(body)).toBe(201);
  const { group, versions, names } = body.spec;
  const served = versions.find((version: { served: boolean }) => version.served).name;
  await eventually(async () => {
    const list = await client.get(`/apis/${group}/${served}/${names.plural}`);
    expect(list.code).toBe(200);
  });
}
