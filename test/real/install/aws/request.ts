import type { Wanted } from './policy.ts';

/** A request to AWS, before it is sent on. */
export interface AwsRequest {
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Who signed it for which service. Absent: the request is not signed. */
export interface Signer {
  accessKeyId: string;
  region: string;
  service: string;
}

/** moto's account. */
export const ACCOUNT = '123456789012';

export const REGION = 'eu-central-1';

/** Returns the signer that the Authorization header names. */
export function signerOf({ headers }: AwsRequest): Signer | undefined {
  const [, accessKeyId, region, service] =
    /Credential=([^/]+)\/\d+\/([^/]+)\/([^/]+)\/aws4_request/.exec(String(headers.authorization ?? '')) ?? [];
  return accessKeyId && region && service ? { accessKeyId, region, service } : undefined;
}

/** Returns the parameters of a request in AWS's query protocol. */
export function formOf({ body }: AwsRequest): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body));
}

/** Returns what a request wants, in IAM's words; undefined for services that the product does not use. */
export function wantedOf(request: AwsRequest, { region, service }: Signer): Wanted | undefined {
  const target =
    String(request.headers['x-amz-target'] ?? '')
      .split('.')
      .at(-1) ?? '';
  if (service === 'sqs') {
    const { QueueUrl, QueueName } = JSON.parse(request.body) as Record<string, string | undefined>;
    const name = QueueName ?? QueueUrl?.split('/').at(-1);
    // IAM has no actions for batches.
    return wanted(`sqs:${target.replace(/Batch$/, '')}`, `arn:aws:sqs:${region}:${ACCOUNT}:${name}`);
  }
  if (service === 'secretsmanager') {
    const { SecretId } = JSON.parse(request.body) as { SecretId: string };
    return wanted(`secretsmanager:${target}`, `arn:aws:secretsmanager:${region}:${ACCOUNT}:secret:${SecretId}-AbCdEf`);
  }
  const form = formOf(request);
  if (service === 'sts') {
    const context = {
      'sts:IdentityTokenAudience': Object.entries(form).flatMap(([name, value]) =>
        name.startsWith('Audience.member.') ? [value] : [],
      ),
      'sts:SigningAlgorithm': [form.SigningAlgorithm ?? ''],
      'sts:DurationSeconds': [form.DurationSeconds ?? '300'],
    };
    return wanted(`sts:${form.Action}`, '*', context);
  }
  if (service === 'monitoring') {
    return wanted(`cloudwatch:${form.Action}`, '*', { 'cloudwatch:namespace': [form.Namespace ?? ''] });
  }
  return undefined;
}

function wanted(action: string, resource: string, context: Wanted['context'] = {}): Wanted {
  return { action, resource, context };
}
