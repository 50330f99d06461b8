import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { ShootFluxError } from '../../shared/errors.ts';
import { createClusterHealth } from '../../shared/runtime/cluster-health.ts';
import { IN_CLUSTER, kubeconfigFiles } from '../../shared/runtime/clusters.ts';
import { useCompileCache } from '../compile-cache.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { clientsOf } from './clients.ts';
import { startWatchdog } from './watchdog.ts';
import { serveWebhooks } from './webhooks.ts';
import {
  boundedPost,
  forwardedLog,
  forwardedMetrics,
  type ThreadData,
  type ThreadMessage,
} from './webhooks-messages.ts';

/** How often the status is compared with the last one that was reported, and how often it is reported anyway. */
const COMPARE_MS = 100;
const REPORT_MS = 1000;

/** Serves the webhooks in this thread until its process sends any message. */
async function serve(port: MessagePort, { options, settings, waiting }: ThreadData): Promise<void> {
  const post = (message: ThreadMessage) => port.postMessage(message);
  const bounded = boundedPost(post, waiting);
  const log = forwardedLog(bounded);
  const metrics = forwardedMetrics(bounded);
  const clients = {
    credentials: () => kubeconfigFiles({ [IN_CLUSTER]: IN_CLUSTER, ...options.kubeconfigs }),
    metrics,
    health: createClusterHealth(),
  };
  const dependencies = { clientsOf: (identity: string) => clientsOf(identity, clients), settings, log, metrics };
  let webhooks: Webhooks;
  try {
    webhooks = await serveWebhooks(options, dependencies);
  } catch (error) {
    if (!(error instanceof ShootFluxError)) throw error;
    return post({ type: 'refused', sentence: error.message });
  }
  const watchdog = startWatchdog({ log, metrics });
  let reported = '';
  let reportedAt = 0;
  const report = () => {
    const status = webhooks.status();
    const text = JSON.stringify(status);
    if (text === reported && performance.now() - reportedAt < REPORT_MS) return;
    [reported, reportedAt] = [text, performance.now()];
    post({ type: 'status', status });
  };
  const reporting = setInterval(report, COMPARE_MS);
  report();
  post({ type: 'listening', port: webhooks.port });
  port.once('message', async () => {
    clearInterval(reporting);
    watchdog.stop();
    await webhooks.stop();
    // Connections to API servers would keep the thread open.
    process.exit();
  });
}

useCompileCache();
// Without `await`: a bundle in CommonJS cannot wait here. A failure ends the thread, with its reason.
if (parentPort !== null) void serve(parentPort, workerData);
