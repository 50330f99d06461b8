import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { listen } from '../listen.ts';
import { findDue } from '../webhooks/certificates.ts';
import { issueDue } from '../webhooks/issue-certificates.ts';

/** An API server without any objects, for one process on this machine. */
export interface EmptyCluster {
  kubeconfig: string;
  stop(): void;
}

const version = { resourceVersion: '1' };

/** Starts an API server whose lists are empty, whose watches stay open, and that accepts every write. */
export async function startEmptyCluster(): Promise<EmptyCluster> {
  const now = new Date();
  const { serving, authority } = await issueDue(undefined, findDue(undefined, [], now), ['127.0.0.1'], now);
  const server = createServer(serving, (request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const port = await listen(server, 0);
  const cluster = {
    server: `https://127.0.0.1:${port}`,
    'certificate-authority-data': Buffer.from(authority.cert).toString('base64'),
  };
  return {
    kubeconfig: JSON.stringify({
      'current-context': 'empty',
      contexts: [{ name: 'empty', context: { cluster: 'empty', user: 'anyone' } }],
      clusters: [{ name: 'empty', cluster }],
      users: [{ name: 'anyone', user: { token: 'none' } }],
    }),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'https://localhost');
  response.setHeader('content-type', 'application/json');
  if (request.method !== 'GET') {
    const object = JSON.parse(await text(request));
    response.end(JSON.stringify({ ...object, metadata: { ...object.metadata, ...version } }));
  } else if (url.searchParams.get('watch') === 'true') {
    response.flushHeaders();
  } else if (url.pathname === '/version') {
    response.end(JSON.stringify({ gitVersion: 'v1.36.0' }));
  } else if (isList(url.pathname)) {
    response.end(JSON.stringify({ kind: 'List', apiVersion: 'v1', metadata: version, items: [] }));
  } else {
    response.writeHead(404);
    response.end(
      JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }),
    );
  }
}

/** `/api/v1/configmaps`, `/apis/GROUP/VERSION/RESOURCE`, and the same below `namespaces/NAME`. */
function isList(path: string): boolean {
  const [, rest = ''] = /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
  return rest.replace(/^namespaces\/[^/]+\/(?=.)/, '').split('/').length === 1;
}
