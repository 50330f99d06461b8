import { createKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigTarget } from '../../shared/kube/kubeconfig.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { startGarden } from '../fleet/testing.ts';
import { type PageOptions, servePage } from './server.ts';
import { startSummary } from './summary.ts';

/** Starts a garden with these objects, and serves the page of an operator. */
export async function startPage(objects: KubeObject[], options: Partial<PageOptions> = {}) {
  const garden = await startGarden(objects);
  const { connection } = await kubeconfigTarget(garden.people.operator, undefined);
  const client = createKubeClient(connection, { name: 'garden' });
  const failures: string[] = [];
  const onFailed = (message: string) => failures.push(message);
  const summary = await startSummary({ garden: client, namespace: undefined, onFailed, pauseMs: 50 });
  const server = await servePage({ summary, garden: client, onFailed, host: '127.0.0.1', port: 0, ...options });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    garden,
    client,
    url,
    failures,
    get: (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers }),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await summary[Symbol.asyncDispose]();
      client.close();
      await garden[Symbol.asyncDispose]();
    },
  };
}

/** Returns the text of a page as it is read: without tags and repeated spaces. */
export const readable = (page: string) =>
  page
    .replace(/<[^>]*>/g, ' ')
    .replaceAll(
      /&(lt|gt|amp|quot|#39);/g,
      (_, name) => ({ lt: '<', gt: '>', amp: '&', quot: '"' })[name as 'lt'] ?? "'",
    )
    .replaceAll(/\s+/g, ' ');
