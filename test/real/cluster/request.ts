import https from 'node:https';
import { json } from 'node:stream/consumers';
import type { ApiServer } from './api-server.ts';

/** One request of the administrator, the body exactly as given; a PATCH is a server-side apply. Fails for any answer but a 2xx, with its message. */
export async function requestJson(
  server: Pick<ApiServer, 'url' | 'ca' | 'adminToken'>,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
  const [code, answer] = await new Promise<[number, unknown]>((resolve, reject) => {
    const request = https.request(
      `${server.url}${path}`,
      {
        agent: false,
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
