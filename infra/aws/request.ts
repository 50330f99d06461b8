import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import { errorMessage, RetryableError } from '../../shared/errors.ts';

/** Where an AWS service is reached, and as which identity. */
export interface AwsEndpoint {
  region: string;
  /** Called for each request: Lambda's environment always holds the current credentials. */
  credentials(): AwsCredentials | Promise<AwsCredentials>;
  /** Default: the regional endpoint of the service. */
  endpoint?: string | undefined;
}

export interface AwsRequest {
  service: string;
  /** Lower-case names. */
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
  const identity = { region, credentials: await credentials() };
  const headers = await signedHeaders({ ...request, ...identity, method: 'POST', url, now: new Date() });
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(REQUEST_MS) });
}

function domainOf(region: string): string {
  return region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
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

/** AWS credentials, as Lambda puts them into the environment of a function. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

interface RequestToSign extends AwsRequest {
  method: string;
  url: URL;
  region: string;
  credentials: AwsCredentials;
  now: Date;
}

/** Returns the request's headers with an AWS Signature Version 4. A client of the SDK would add 50 ms to a cold start. */
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
