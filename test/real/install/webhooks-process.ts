import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { eventually } from '../../scenarios/stage.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { requestJson } from '../cluster/request.ts';
import { applyObjects, deleteObjects, serviceAccountToken } from './objects.ts';

interface Account {
  namespace: string;
  name: string;
}

export interface WebhooksProcess extends AsyncDisposable {
  /** Waits until the process has a certificate and no problem. */
  isReady(): Promise<void>;
}

/** The config file of a chart, and the cluster with the ServiceAccount behind each of its kubeconfigs. */
export interface WebhooksSetup {
  config: Record<string, unknown>;
  clusters: Record<string, [ApiServer, Account]>;
  /** The cluster that the process would run in; it gets the Secret. */
  inCluster: string;
  /** More flags. */
  flags?: string[];
}

/**
 * Starts `shoot-flux webhooks` with the config file that a chart renders. Only what the kubelet provides is replaced: the
 * kubeconfigs, which have tokens of the rendered ServiceAccounts, and ports that are free.
 */
export async function startWebhooks({
  config,
  clusters,
  inCluster,
  flags = [],
}: WebhooksSetup): Promise<WebhooksProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'shoot-flux-webhooks-'));
  const file = async (name: string, content: unknown) => {
    const path = join(folder, name);
    await writeFile(path, stringify(content));
    return path;
  };
  const connections = await Promise.all(
    Object.entries(clusters).map(async ([cluster, [server, account]]) => {
      const path = await file(`${cluster}.kubeconfig`, await kubeconfigOf(server, account));
      return cluster === 'garden' ? ['--garden', path] : ['--seed', `${cluster}=${path}`];
    }),
  );
  const secret = String(config.webhookSecret).replace(/^in-cluster:/, `${inCluster}:`);
  const args = [
    ...['infra/cli/shoot-flux.js', 'webhooks', '--config', await file('config.yaml', config)],
    ...connections.flat(),
    ...['--webhook-secret', secret, '--webhook-port', '0', '--port', '0', ...flags],
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'exit');
  const port = await eventually(
    `the webhooks listen; they say: ${said}`,
    async () => /probes and metrics on port (\d+)/.exec(said)?.[1],
    (found) => found !== undefined,
  );
  return {
    async isReady() {
      await eventually(
        'the webhooks are ready',
        async () => {
          const response = await fetch(`http://127.0.0.1:${port}/readyz`);
          return `${response.status} ${await response.text()}`;
        },
        (answer) => answer.startsWith('200 ok webhooks: certificate until'),
      );
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

/** A call as an API server makes it: to a Service by its name, trusting the published authority. */
export interface WebhookCall {
  port: number;
  /** Name in the certificate. */
  host: string;
  /** PEM in base64. */
  caBundle: string;
  path: string;
  /** The `request` of the AdmissionReview. */
  request: Record<string, unknown>;
}

/** Returns the patch with which a webhook answers. */
export async function callWebhook({ port, host, caBundle, path, request }: WebhookCall): Promise<unknown> {
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'u', ...request } };
  const call = https.request({
    ...{ host: '127.0.0.1', port, path, method: 'POST', servername: host, agent: false },
    ca: Buffer.from(caBundle, 'base64'),
    headers: { 'content-type': 'application/json' },
  });
  call.end(JSON.stringify(review));
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const { response } = (await json(answer)) as { response: { patch?: string } };
  return JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString() || '[]');
}

async function kubeconfigOf(server: ApiServer, { namespace, name }: Account) {
  const token = await serviceAccountToken(server, namespace, name);
  const cluster = { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') };
  return {
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: 'account', user: { token } }],
    contexts: [{ name: 'context', context: { cluster: 'cluster', user: 'account' } }],
    'current-context': 'context',
  };
}

/** Reads a Secret as the administrator. */
export async function secretOf(server: ApiServer, namespace: string, name: string) {
  return (await requestJson(server, 'GET', `/api/v1/namespaces/${namespace}/secrets/${name}`)) as {
    data: Record<string, string>;
  };
}

/** Replaces a Secret by one without content, as the administrator. */
export async function emptySecret(server: ApiServer, namespace: string, name: string): Promise<void> {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, type: 'Opaque' };
  await deleteObjects(server, [secret]);
  await applyObjects(server, [secret]);
}

interface Configuration extends KubeObject {
  webhooks: { clientConfig: { caBundle?: string; url?: string; service?: { namespace: string; path: string } } }[];
}

/** Reads a webhook configuration as the administrator, once the process, which may be ready before, has published its authority there. */
export function webhookConfiguration(server: ApiServer, type: 'mutating' | 'validating', name: string) {
  const path = `/apis/admissionregistration.k8s.io/v1/${type}webhookconfigurations/${name}`;
  return eventually(
    'the authority is published',
    async () => (await requestJson(server, 'GET', path)) as Configuration,
    ({ webhooks }) => webhooks.every(({ clientConfig }) => clientConfig.caBundle !== undefined),
  );
}
