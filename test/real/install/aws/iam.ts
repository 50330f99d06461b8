/** A statement of an IAM policy, as the template's roles have them. */
export interface Statement {
  Effect: 'Allow' | 'Deny';
  Action: string | string[];
  Resource?: string | string[];
  Principal?: Record<string, string>;
  Condition?: Record<string, Record<string, Value>>;
}

type Value = string | number | boolean | string[];

/** What a request wants, in IAM's words. */
export interface Wanted {
  /** For example `sqs:SendMessage`. */
  action: string;
  /** The ARN, or `*` for an action that has none. */
  resource: string;
  /** Condition keys of the request. */
  context: Record<string, string[]>;
}

/** Returns whether statements permit a request: one allows it, and none denies it. */
export function isAllowed(statements: Statement[], wanted: Wanted): boolean {
  const matching = statements.filter((statement) => matches(statement, wanted));
  return matching.some(({ Effect }) => Effect === 'Allow') && matching.every(({ Effect }) => Effect !== 'Deny');
}

function matches(
  { Action, Resource = '*', Condition = {} }: Statement,
  { action, resource, context }: Wanted,
): boolean {
  return (
    listOf(Action).some((pattern) => isLike(action, pattern)) &&
    listOf(Resource).some((pattern) => isLike(resource, pattern)) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, expected]) => holds(operator, context[key], listOf(expected).map(String))),
    )
  );
}

type Operator = (values: string[] | undefined, expected: string[]) => boolean;

/** A condition without the prefix ForAllValues does not hold for a request that lacks the key. */
const operators: Record<string, Operator> = {
  'ForAllValues:StringLike': (values = [], expected) =>
    values.every((value) => expected.some((pattern) => isLike(value, pattern))),
  StringEquals: anyOf((value, against) => value === against),
  StringLike: anyOf(isLike),
  NumericLessThanEquals: anyOf((value, against) => Number(value) <= Number(against)),
};

function anyOf(test: (value: string, against: string) => boolean): Operator {
  return (values = [], expected) => values.some((value) => expected.some((against) => test(value, against)));
}

/** An unknown operator is an error, so that no condition is passed over. */
function holds(operator: string, values: string[] | undefined, expected: string[]): boolean {
  const known = operators[operator];
  if (known === undefined) throw new Error(`The test does not know the condition operator ${operator}.`);
  return known(values, expected);
}

function isLike(text: string, pattern: string): boolean {
  const expression = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${expression}$`).test(text);
}

function listOf<T>(value: T | T[]): T[] {
  return Array.isArray(value) ? value : [value];
}

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
