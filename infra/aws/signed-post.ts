import type { AwsCredentials } from './signature.ts';
import { signedHeaders } from './signature.ts';

/** Where an AWS service is reached, and as which identity. */
export interface AwsEndpoint {
  region: string;
  /** Called for each request: Lambda's environment always holds the current credentials. */
  credentials(): AwsCredentials | Promise<AwsCredentials>;
  /** Default: the regional endpoint of the service. */
  endpoint?: string | undefined;
}

/** One request to an AWS service. */
export interface AwsRequest {
  service: 'secretsmanager' | 'sts' | 'monitoring';
  headers: Record<string, string>;
  body: string;
}

const REQUEST_MS = 5_000;

/** Sends a signed POST to an AWS service, without its SDK. */
export async function signedPost(
  { region, credentials, endpoint }: AwsEndpoint,
  request: AwsRequest,
): Promise<Response> {
  const { service, body } = request;
  const url = new URL(endpoint ?? `https://${service}.${region}.${domainOf(region)}/`);
  const headers = await signedHeaders({
    method: 'POST',
    url,
    headers: request.headers,
    body,
    region,
    service,
    credentials: await credentials(),
    now: new Date(),
  });
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(REQUEST_MS) });
}

function domainOf(region: string): string {
  return region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
}
