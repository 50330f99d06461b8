import { existsSync } from 'node:fs';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { getCACertificates } from 'node:tls';
import { errorMessage, RetryableError } from '../../shared/errors.ts';
import { tokenFile } from '../../shared/kube/connection.ts';
import type { Encoded } from './event.ts';

/** The sink gave no answer. */
export class SilentSinkError extends RetryableError {
  override name = 'SilentSinkError';
}

/** Where events are posted. */
export interface PostOptions {
  url: URL;
  /** Certificates of authorities (PEM) besides those of the system. */
  ca?: string | undefined;
  /** Its token is sent along where the file exists. */
  tokenPath?: string | undefined;
  mostConnections: number;
  timeoutMs: number;
}

/** Posts requests to one address, over connections that stay open. */
export interface Post {
  /** Resolves when the request was accepted. @throws RetryableError */
  send(encoded: Encoded): Promise<void>;
  close(): void;
}

export function createPost({ url, ca, tokenPath, mostConnections, timeoutMs }: PostOptions): Post {
  const options = { keepAlive: true, maxSockets: mostConnections };
  const isSecure = url.protocol === 'https:';
  const agent = isSecure
    ? new HttpsAgent({ ...options, ...(ca && { ca: [...getCACertificates(), ca] }) })
    : new HttpAgent(options);
  const token = tokenPath !== undefined && existsSync(tokenPath) ? tokenFile(tokenPath) : undefined;
  const request = isSecure ? requestHttps : requestHttp;

  const post = async ({ headers, body }: Encoded, refresh: boolean): Promise<number> => {
    const authorization = typeof token === 'function' ? { authorization: `Bearer ${await token(refresh)}` } : {};
    const answered = Promise.withResolvers<IncomingMessage>();
    const sent = request(url, {
      ...{ method: 'POST', agent, signal: AbortSignal.timeout(timeoutMs) },
      headers: { ...headers, ...authorization, 'content-length': Buffer.byteLength(body) },
    });
    sent.once('response', answered.resolve).once('error', answered.reject).end(body);
    const answer = await answered.promise;
    answer.on('error', () => {}).resume();
    return answer.statusCode ?? 0;
  };

  return {
    async send(encoded) {
      const status = await post(encoded, false).catch((error: unknown) => {
        throw new SilentSinkError(`the sink ${url.host} does not answer (${errorMessage(error)})`, { cause: error });
      });
      const final = status === 401 && token !== undefined ? await post(encoded, true) : status;
      if (final < 200 || final > 299) throw new RetryableError(`the sink ${url.host} answered ${final}`);
    },
    close: () => agent.destroy(),
  };
}
