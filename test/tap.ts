import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Passes requests on to `target`. `hear` gets their bodies, part by part. */
export async function startTap(target: string, hear: (part: string) => void) {
  const server = createServer((incoming, response) => {
    const onward = request(new URL(incoming.url ?? '/', target), {
      method: incoming.method ?? 'POST',
      headers: incoming.headers,
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.on('data', (part: Buffer) => hear(part.toString('utf8')));
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, stop: async () => void server.closeAllConnections() };
}
