import { expect } from 'vitest';
import { type Context, eventually } from './context.ts';

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
    size: { type: 'integer', minimum: 1, maximum: 10 },
    mode: { type: 'string', enum: ['A', 'B'], default: 'A' },
    name: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
    list: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string' } },
    map: { type: 'object', additionalProperties: { type: 'string' } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    port: { 'x-kubernetes-int-or-string': true },
    nothing: { type: 'string', nullable: true },
    when: { type: 'string', format: 'date-time' },
    nested: { type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } } },
    fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is fixed' }] },
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
export function crd(group: string, kind: string, traits: { status: boolean; scope: 'Namespaced' | 'Cluster' }): object {
  const plural = `${kind.toLowerCase()}s`;
  const version = (name: string, storage: boolean) => ({
    name,
    storage,
    served: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
    ...(traits.status && { subresources: { status: {} } }),
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: traits.scope,
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
