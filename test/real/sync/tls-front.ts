import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:https';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { listen } from '../cluster/ports.ts';

/** HTTPS with a certificate of its own in front of something. */
export interface TlsFront extends AsyncDisposable {
  /** `127.0.0.1:PORT` */
  host: string;
  /** The authority that clients have to trust, as PEM. */
  ca: string;
}

/** What is behind it: a URL of a server, or the status and the body of an answer. */
export type Behind = string | { status: number; body?: unknown };

/** Serves HTTPS, and asks for each request what is behind it. 401 asks for a name and a password. */
export async function startTlsFront(behind: (incoming: IncomingMessage) => Behind): Promise<TlsFront> {
  const { cert, key } = loopbackCertificate();
  const server = createServer({ cert, key }, (incoming, response) => {
    const target = behind(incoming);
    if (typeof target !== 'string') {
      const asks = target.status === 401 ? { 'www-authenticate': 'Basic realm="front"' } : {};
      incoming.resume();
      response.writeHead(target.status, { 'content-type': 'application/json', ...asks });
      response.end(target.body === undefined ? '' : JSON.stringify(target.body));
      return;
    }
    const { authorization: _, ...headers } = incoming.headers;
    const onward = request(new URL(incoming.url ?? '/', target), { method: incoming.method ?? 'GET', headers });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  });
  return { ...(await listen(server)), ca: cert };
}

/** Returns whether a request carries this name and password. */
export function isSignedIn({ headers }: IncomingMessage, username: string, password: string): boolean {
  return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
