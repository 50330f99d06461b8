import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { errorMessage, RetryableError } from '../../shared/errors.ts';

/** Where an AWS service is reached, and as which identity. */
export interface AwsEndpoint {
  region: string;
  /** A function is called for each request: Lambda's environment always holds the current credentials. */
  credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'];
  /** Default: the regional endpoint of the service. */
  endpoint?: string | undefined;
}

interface AwsRequest {
  service: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
}

const REQUEST_MS = 5_000;

/** Sends a signed POST to an AWS service, without its SDK. */
export async function signedPost(aws: AwsEndpoint, request: AwsRequest): Promise<Response> {
  const { region, endpoint } = aws;
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = new URL(endpoint ?? `https://${request.service}.${region}.${domain}/`);
  const headers = await signedHeaders(aws, 'POST', url, request);
  return fetch(url, { method: 'POST', headers, body: request.body, signal: AbortSignal.timeout(REQUEST_MS) });
}

/** One request of AWS's query protocol, which STS and CloudWatch speak. */
interface AwsQuery {
  service: string;
  /** `Action`, `Version` and the action's parameters. */
  parameters: URLSearchParams;
  /** What is not done if the request fails; begins the sentence of the error. */
  failure: string;
  /** Ends the sentence when AWS refuses the request. */
  remedy: string;
}

const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

/** Sends a request and returns the answer, which is XML. @throws RetryableError with AWS's code when it is refused */
export async function awsQuery(
  endpoint: AwsEndpoint,
  { service, parameters, failure, remedy }: AwsQuery,
): Promise<string> {
  const body = parameters.toString();
  const response = await signedPost(endpoint, { service, headers, body }).catch((error: unknown) => {
    throw new RetryableError(`${failure}: ${errorMessage(error)}`);
  });
  const text = await response.text();
  if (response.ok) return text;
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? `HTTP ${response.status}`;
  throw new RetryableError(`${failure}: ${code}; ${remedy}.`);
}

/** Returns the request's headers with an AWS Signature Version 4. A client of the SDK would add 50 ms to a cold start. */
export async function signedHeaders(
  { region, credentials }: AwsEndpoint,
  method: string,
  url: URL,
  { service, headers, body }: AwsRequest,
  signingDate = new Date(),
): Promise<Record<string, string>> {
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
    { signingDate },
  );
  return signed.headers;
}
