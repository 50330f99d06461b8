import { errorMessage, RetryableError } from '../../shared/errors.ts';
import { type AwsEndpoint, signedPost } from './signed-post.ts';

/** One request of AWS's query protocol, which STS and CloudWatch speak. */
export interface AwsQuery {
  service: 'sts' | 'monitoring';
  /** `Action`, `Version` and the action's parameters. */
  parameters: URLSearchParams;
  /** What is not done if the request fails; begins the sentence of the error. */
  failure: string;
  /** Ends the sentence when AWS refuses the request. */
  remedy: string;
}

const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

/**
 * Sends a request and returns the answer, which is XML.
 * @throws RetryableError with AWS's code when it is refused
 */
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
