import https from 'node:https';
import { json } from 'node:stream/consumers';
import type { ApiServer } from './api-server.ts';

/**
 * Sends one request as the administrator, with exactly this body. A PATCH is a server-side apply. Throws the message of
 * any answer except 2xx.
 */
export async function requestJson(
  server: Pick<ApiServer, 'url' | 'ca' | 'adminToken'>,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  agent: https.Agent | false = false,
): Promise<unknown> {
  const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
  const [code, answer] = await new Promise<[number, unknown]>((resolve, reject) => {
    const request = https.request(
      `${server.url}${path}`,
      {
        agent,
        method,
        ca: server.ca,
        headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': type },
      },
      (response) => json(response).then((answer) => resolve([response.statusCode ?? 0, answer]), reject),
    );
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
  if (code >= 200 && code < 300) return answer;
  throw new Error(`${method} ${path}: ${code} ${(answer as { message?: string }).message ?? ''}`);
}
