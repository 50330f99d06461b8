import { eventAbout, warning } from '../../shared/gardener/event.ts';
import { type RolloutState, rolloutData } from '../../shared/gardener/rollout.ts';
import type { Line } from '../../shared/gardener/status-map.ts';
import { createKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigTarget } from '../../shared/kube/kubeconfig.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { projectOf, shootOn, startGarden, statusMapOf } from '../fleet/testing.ts';
import { type PageOptions, servePage } from './server.ts';
import { startSummary } from './summary.ts';

/** Starts a garden with these objects, and serves the page of an operator, or of somebody else. */
export async function startPage(
  objects: KubeObject[],
  options: Partial<PageOptions> = {},
  who: 'operator' | 'nobody' = 'operator',
) {
  const garden = await startGarden(objects);
  const { connection } = await kubeconfigTarget(garden.people[who], undefined);
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
    stop: server.stop,
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

const sentences = [
  "GitRepository flux-system/main-gitrepo: github.com rejects the SSH key; add the public key of Secret flux-source in the project's namespace to the repository as a deploy key.",
  'Kustomization flux-system/main-ks: the admission webhook "policy.example.com" denies Deployment/apps/a-very-long-name-of-a-deployment-that-does-not-break; correct it.',
  'HelmRelease apps/podinfo: install retries exhausted; run flux reconcile helmrelease podinfo --reset.',
  'The quota of the control plane has no room for another ManagedResource.',
];

/** Returns a landscape of so many Shoots in projects of 40, with faults, waves and two releases. */
export function landscapeOf(count: number): KubeObject[] {
  const now = Math.floor(Date.now() / 1000);
  const names = Array.from({ length: count }, (_, index) => ({
    index,
    name: `s${index + 1}`,
    project: (index % Math.ceil(count / 40)) + 1,
  }));
  return [...Map.groupBy(names, ({ project }) => project)].flatMap(([project, shoots]) => {
    const namespace = `garden-p${project}`;
    const lines = shoots.map(({ index, name }): [string, Line] => {
      const state =
        index % 7 === 0 ? 'Not Ready' : index % 11 === 0 ? 'Progressing' : index % 13 === 0 ? 'Hibernated' : 'Ready';
      const isQuiet = state === 'Ready' || state === 'Hibernated';
      const since = new Date((now - 61 * (index + 2)) * 1000).toISOString().replace(/\.\d+/, '');
      const sentence = sentences[index % sentences.length];
      return [name, { state, flux: index % 3 === 0 ? 'v2.8.8' : 'v2.9.4', ...(!isQuiet && { since, sentence }) }];
    });
    const [first, ...others] = shoots.map(({ name }) => name);
    const rollout: RolloutState = {
      ...{ revision: '0123456789ab', began: now - 3600, limits: { maxInProgress: '10%', maxFailed: 1 }, done: 7 },
      waiting: new Map(others.slice(4).map((name, index) => [name, { order: String(index % 3), seen: now }])),
      inProgress: new Map(others.slice(0, 4).map((name) => [name, { order: '0', since: now, wasNotReady: false }])),
      ...{ failed: new Set(first === undefined ? [] : [first]), accepted: 0, continued: undefined },
    };
    return [
      ...projectOf(`p${project}`),
      ...(project === 1
        ? [
            eventAbout(
              resources.shoots,
              { namespace, name: 's1' },
              warning('FluxNotReady', sentences[0] ?? ''),
              new Date(),
            ),
          ]
        : []),
      ...shoots.map(({ name, index }) => shootOn(`aws-eu-central-${(index % 20) + 1}`, namespace, name)),
      statusMapOf(namespace, Object.fromEntries(lines), project % 10 === 1 ? rolloutData(rollout, shoots.length) : {}),
    ];
  });
}
