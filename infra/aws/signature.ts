import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

/** AWS credentials, as Lambda puts them into the environment of a function. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

export interface RequestToSign {
  method: string;
  url: URL;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  region: string;
  service: string;
  credentials: AwsCredentials;
  now: Date;
}

/**
 * Returns the request's headers with an AWS Signature Version 4. The signer is the SDK's own package: it adds 1 ms to
 * a cold start (median of 9 interleaved imports, 2 cores), a client of the SDK 50 ms.
 */
export async function signedHeaders(request: RequestToSign): Promise<Record<string, string>> {
  const { method, url, headers, body, region, service, now } = request;
  const { sessionToken, ...keys } = request.credentials;
  const credentials = { ...keys, ...(sessionToken && { sessionToken }) };
  const signer = new SignatureV4({ service, region, credentials, sha256: Sha256, applyChecksum: false });
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...headers, host: url.host },
      body,
    },
    { signingDate: now },
  );
  return signed.headers;
}

/** SHA-256 of `node:crypto` in the form that the signer takes: an HMAC where there is a secret. */
class Sha256 {
  private readonly state: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.state = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(chunk: string | ArrayBuffer | ArrayBufferView): void {
    this.state.update(bytesOf(chunk));
  }

  async digest(): Promise<Uint8Array> {
    return this.state.digest();
  }

  /** The signer never reuses a hash. */
  reset(): void {}
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
