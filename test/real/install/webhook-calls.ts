import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { json } from 'node:stream/consumers';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { eventually } from '../../scenarios/stage.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { requestJson } from '../cluster/request.ts';
import { applyObjects, deleteObjects } from './objects.ts';

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
