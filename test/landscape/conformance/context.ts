import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { ConformanceClient, type ConformanceServer } from './client.ts';

/** The shared context of the tests: a client and unique names. */
export class Context {
  readonly client: ConformanceClient;
  readonly server: ConformanceServer;
  /** API group of the suite's own CRDs. */
  readonly group = `${unique()}.example.com`;

  constructor(server: ConformanceServer) {
    this.server = server;
    this.client = new ConformanceClient(server);
  }

  /** Creates an empty namespace. */
  async namespace(): Promise<string> {
    const name = unique();
    const { code } = await this.client.post('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
    expect(code).toBe(201);
    return name;
  }

  /** Returns the path of the ConfigMaps in a new namespace. */
  async configMaps(): Promise<string> {
    return `/api/v1/namespaces/${await this.namespace()}/configmaps`;
  }

  /** Returns the path of the Things (see `things.ts`) in a new namespace. */
  async things(version = 'v1'): Promise<string> {
    return `/apis/${this.group}/${version}/namespaces/${await this.namespace()}/things`;
  }

  thing(name: string, spec: object, more: { metadata?: object; status?: object } = {}): object {
    const { metadata, status } = more;
    return {
      apiVersion: `${this.group}/v1`,
      kind: 'Thing',
      metadata: { name, ...metadata },
      spec,
      ...(status && { status }),
    };
  }

  close(): void {
    this.client.close();
  }
}

export const unique = () => `t${randomBytes(5).toString('hex')}`;

export const configMap = (name: string, data?: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...(data && { data }),
});

/** Retries until the check holds: some effects on a real API server take a moment. */
export async function eventually<T>(check: () => Promise<T>, seconds = 60): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
