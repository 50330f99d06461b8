import { afterAll, beforeAll, describe } from 'vitest';
import { applyTests } from './apply.ts';
import { authorizationTests } from './authorization.ts';
import { builtInTests } from './built-ins.ts';
import type { ConformanceServer } from './client.ts';
import { Context, crd, install, testOn } from './context.ts';
import { customResourceTests } from './custom-resources.ts';
import { discoveryTests } from './discovery.ts';
import { listTests } from './lists.ts';
import { objectTests } from './objects.ts';
import { watchTests } from './watches.ts';

export type { ConformanceServer } from './client.ts';

/**
 * Defines the conformance suite: behaviour that the embedded Kubernetes API shares with a kube-apiserver, tested over
 * HTTPS on both. The server needs no controllers; the suite leaves its objects on it.
 */
export function conformanceSuite(name: string, start: () => Promise<ConformanceServer>): void {
  describe(name, () => {
    let server: ConformanceServer;
    let context: Context;
    const test = testOn(() => context);

    beforeAll(async () => {
      server = await start();
      context = new Context(server);
      await install(context, crd(context.group, 'Thing', 'Namespaced'));
    });

    afterAll(async () => {
      context?.client.close();
      await server?.stop();
    });

    describe('discovery', () => discoveryTests(test));
    describe('objects', () => objectTests(test));
    describe('lists', () => listTests(test));
    describe.concurrent('watches', () => watchTests(test));
    describe('server-side apply', () => applyTests(test));
    describe('custom resources', () => customResourceTests(test));
    describe('built-in types', () => builtInTests(test));
    describe('authorization', () => authorizationTests(test));
  });
}
