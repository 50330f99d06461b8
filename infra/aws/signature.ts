import { createHmac, hash } from 'node:crypto';

/** AWS credentials as Lambda puts them into the environment of a function. */
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
 * The headers of a request with AWS Signature Version 4. One request does not justify the SDK's 50 ms in a cold start.
 * Source: AWS IAM user guide, "Create a signed AWS API request".
 */
export function signedHeaders(request: RequestToSign): Record<string, string> {
  const { method, url, body, region, service, credentials, now } = request;
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const token = credentials.sessionToken;
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    'x-amz-date': time,
    ...(token === undefined ? {} : { 'x-amz-security-token': token }),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    url.pathname,
    [...url.searchParams]
      .sort()
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&'),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    hash('sha256', body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', canonical)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(
    hmac,
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return { ...headers, authorization };
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
