import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import type { Connection } from './connection.ts';

/** A request that the test server received. */
export interface SeenRequest {
  method: string;
  url: URL;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface TestServer extends AsyncDisposable {
  connection: Connection;
  requests: SeenRequest[];
  /** Closes every connection now, without an answer. */
  reset(): void;
}

/** Starts a TLS server whose answers the test decides, for behaviour that no API server shows on demand. */
export async function startTlsServer(
  answer: (request: SeenRequest, response: ServerResponse) => void,
): Promise<TestServer> {
  const { cert, key } = loopbackCertificate();
  const requests: SeenRequest[] = [];
  const server = createServer({ cert, key }, (incoming, response) => {
    void bodyOf(incoming).then((body) => {
      const url = new URL(incoming.url ?? '/', 'https://localhost');
      const request = { method: incoming.method ?? '', url, headers: incoming.headers, body };
      requests.push(request);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    connection: { server: `https://127.0.0.1:${port}`, ca: cert, token: 'test-token' },
    requests,
    reset: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** The `v1` Status of a failure. */
export function statusBody(code: number, reason: string, message: string, details = {}): object {
  return { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason, message, details };
}

/** A kubeconfig as kubectl writes it; by default of a cluster that does not answer. */
export function kubeconfigOf(user: object = { token: 'none' }, cluster: object = { server: 'https://127.0.0.1:1' }) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [
      { name: 'there', context: { cluster: 'elsewhere', user: 'other' } },
      { name: 'here', context: { cluster: 'local', user: 'me' } },
    ],
    clusters: [{ name: 'local', cluster }],
    users: [{ name: 'me', user }],
  };
}

/** Returns the AdmissionReview with which an API server asks about an object. */
export function reviewOf(asked: object, more: object = {}): string {
  const request = { uid: 'u', operation: 'CREATE', ...asked };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request, ...more });
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
