import { errorMessage } from '../../shared/errors.ts';

const MOST_REDIRECTS = 5;

/** The server has answered with another status than success. */
export class RefusedError extends Error {
  readonly status: number;
  /** What it asks for. */
  readonly challenge: string;

  constructor({ status, headers }: Response) {
    super(`HTTP ${status}`);
    this.status = status;
    this.challenge = headers.get('www-authenticate') ?? '';
  }
}

/**
 * Downloads a file. Redirects lead to https only, and without the headers to another server. Node.js itself obeys
 * HTTPS_PROXY where NODE_USE_ENV_PROXY is 1.
 * @throws Error that says why not, without the URL; RefusedError for the answer of the server
 */
export async function download(url: string, mib: number, timeoutMs = 60_000, headers: Headers = {}): Promise<Buffer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await follow(url, signal, headers);
    if (!response.ok) {
      await response.body?.cancel();
      throw new RefusedError(response);
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > mib * 1024 * 1024) throw new Error(`it is larger than ${mib} MiB`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof RefusedError) throw error;
    if (signal.aborted) throw new Error(`it took longer than ${timeoutMs / 1000} s`);
    let root = error;
    while (root instanceof Error && root.cause instanceof Error) root = root.cause;
    throw new Error(errorMessage(root));
  }
}

type Headers = Readonly<Record<string, string>>;

async function follow(url: string, signal: AbortSignal, headers: Headers): Promise<Response> {
  let at = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
    // A checksum is of the bytes as they are published.
    const own = new URL(at).origin === new URL(url).origin ? headers : {};
    const response = await fetch(at, {
      redirect: 'manual',
      signal,
      headers: { 'accept-encoding': 'identity', ...own },
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    at = new URL(location, at).href;
    if (!at.startsWith('https:')) throw new Error(`it is redirected to ${new URL(at).origin}, which is not https`);
  }
  throw new Error(`it is redirected more than ${MOST_REDIRECTS} times`);
}
