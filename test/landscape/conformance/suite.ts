import { afterAll, beforeAll, describe } from 'vitest';
import { applyTests } from './apply.ts';
import { authorizationTests } from './authorization.ts';
import { builtInTests } from './built-ins.ts';
import type { ConformanceServer } from './client.ts';
import { Context } from './context.ts';
import { customResourceTests } from './custom-resources.ts';
import { deletionTests } from './deletion.ts';
import { discoveryTests } from './discovery.ts';
import { landscapeCrdTests } from './landscape-crds.ts';
import { listTests } from './lists.ts';
import { namespaceTests } from './namespaces.ts';
import { objectTests } from './objects.ts';
import { patchTests } from './patches.ts';
import { crd, install } from './things.ts';
import { watchTests } from './watches.ts';

export type { ConformanceServer } from './client.ts';

/**
 * Defines the conformance suite: behaviour that the embedded Kubernetes API shares with a kube-apiserver, tested over
 * HTTPS on both. The server needs no controllers; the suite leaves its objects on it.
 */
export function conformanceSuite(name: string, start: () => Promise<ConformanceServer>): void {
  describe(name, () => {
    let server: ConformanceServer;
    let made: Context;
    const context = () => made;

    beforeAll(async () => {
      server = await start();
      made = new Context(server);
      await install(made, crd(made.group, 'Thing', { status: true, scope: 'Namespaced' }));
      await install(made, crd(made.group, 'Plain', { status: false, scope: 'Cluster' }));
    });

    afterAll(async () => {
      made?.close();
      await server?.stop();
    });

    describe('discovery', () => discoveryTests(context));
    describe('objects', () => objectTests(context));
    describe('lists', () => listTests(context));
    describe.concurrent('watches', () => watchTests(context));
    describe('patches', () => patchTests(context));
    describe('server-side apply', () => applyTests(context));
    describe('custom resources', () => customResourceTests(context));
    describe('deletion', () => deletionTests(context));
    describe('namespaces', () => namespaceTests(context));
    describe('built-in types', () => builtInTests(context));
    describe('authorization', () => authorizationTests(context));
    describe('CRDs of Gardener and Flux', () => landscapeCrdTests(context));
  });
}
