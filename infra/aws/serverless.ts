import { FUNCTION_TIMEOUT_SECONDS } from '../../events/run/deadline.ts';
import {
  BATCH_SIZE,
  DEAD_LETTER_RETENTION_SECONDS,
  MAX_RECEIVE_COUNT,
  VISIBILITY_SECONDS,
} from '../../events/sqs/limits.ts';
import { queueNames } from '../../events/sqs/queues.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';
import { type AnyDefinition, findDefinitions, findWebhookDefinitions } from '../functions.ts';

/** The generated parts of serverless.yml: a Lambda for each function, with its queues or URL and its role. */
export interface ServerlessParts {
  functions: Record<string, object>;
  resources: { Resources: Record<string, object>; Outputs: Record<string, object> };
}

/** Prefix of all names of a deployment, so that several have no queue in common; osls replaces the variables. */
const PREFIX = `\${param:prefix, 'shoot-flux'}-\${sls:stage}-`;

/** Generates the parts of serverless.yml that follow from the functions' definitions. */
export async function serverlessParts(): Promise<ServerlessParts> {
  const definitions = await findDefinitions();
  const webhooks = await findWebhookDefinitions();
  const resources = [
    ...definitions.flatMap((definition) => [
      ...queues(definition),
      role(definition, queueStatements(definition, definitions)),
    ]),
    ...webhooks.map((definition) => role(definition, [])),
  ];
  const lambdas = [...definitions.map(queueLambda), ...webhooks.map(webhookLambda)];
  return {
    functions: Object.fromEntries(lambdas),
    resources: {
      Resources: { ...Object.fromEntries(resources), WatcherPolicy: watcherPolicy(definitions) },
      Outputs: { QueueUrlPrefix: { Value: queueUrlPrefix } },
    },
  };
}

const queueUrlPrefix = sub(`https://sqs.\${AWS::Region}.\${AWS::URLSuffix}/\${AWS::AccountId}/${PREFIX}`);

type Named = readonly [name: string, properties: object];

function queueLambda(definition: FunctionDefinition): Named {
  const { environment, ...common } = lambda(definition);
  const sqs = {
    arn: arn(`${logicalId(definition.name)}Queue`),
    batchSize: BATCH_SIZE,
    functionResponseType: 'ReportBatchItemFailures',
    // How much of the account's concurrency one function can take; one Lambda runs up to ten keys.
    maximumConcurrency: `\${param:maximumConcurrency${logicalId(definition.name)}, param:maximumConcurrency, 10}`,
  };
  return [
    definition.name,
    {
      ...common,
      environment: { ...environment, QUEUE_URL_PREFIX: queueUrlPrefix },
      package: { patterns: [`dist/functions/${definition.name}/**`, 'dist/flux-distribution/**'] },
      events: [{ sqs }],
    },
  ];
}

/**
 * API servers cannot sign for IAM, so the URL is public: it is served only with the token whose hash is set, and callers
 * without it cannot use more of the account than the reserved concurrency.
 */
function webhookLambda(definition: WebhookDefinition): Named {
  const { environment, ...common } = lambda(definition);
  return [
    definition.name,
    {
      ...common,
      environment: { ...environment, WEBHOOK_TOKEN_SHA256: `\${param:webhookTokenSha256, ''}` },
      reservedConcurrency: `\${param:webhookConcurrency, 20}`,
      package: { patterns: [`dist/functions/${definition.name}/**`] },
      url: true,
    },
  ];
}

/** The properties that all Lambdas share. */
function lambda({ name, description }: AnyDefinition) {
  return {
    name: `${PREFIX}${name}`,
    description,
    handler: `dist/functions/${name}/index.handler`,
    timeout: FUNCTION_TIMEOUT_SECONDS,
    role: arn(`${logicalId(name)}Role`),
    environment: { KUBECONFIG_SECRET_PREFIX: secretPrefix(name) },
  };
}

function queues(definition: FunctionDefinition): Named[] {
  const id = logicalId(definition.name);
  const names = queueNames(definition, PREFIX);
  const isFifo = definition.queue !== 'standard';
  // High throughput: limits apply to each group instead of the queue.
  const fifo = isFifo
    ? { FifoQueue: true, DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' }
    : {};
  return [
    [
      `${id}Queue`,
      queue({
        QueueName: names.queue,
        ...fifo,
        VisibilityTimeout: VISIBILITY_SECONDS,
        RedrivePolicy: { deadLetterTargetArn: arn(`${id}DeadLetterQueue`), maxReceiveCount: MAX_RECEIVE_COUNT },
      }),
    ],
    [
      `${id}DeadLetterQueue`,
      queue({ QueueName: names.deadLetterQueue, ...fifo, MessageRetentionPeriod: DEAD_LETTER_RETENTION_SECONDS }),
    ],
    [
      `${id}QueuePolicy`,
      {
        Type: 'AWS::SQS::QueuePolicy',
        Properties: {
          Queues: [`${id}Queue`, `${id}DeadLetterQueue`].map((Ref) => ({ Ref })),
          PolicyDocument: policy({
            Effect: 'Deny',
            Principal: '*',
            Action: 'sqs:*',
            Resource: [arn(`${id}Queue`), arn(`${id}DeadLetterQueue`)],
            Condition: { Bool: { 'aws:SecureTransport': false } },
          }),
        },
      },
    ],
  ];
}

function queue(properties: object): object {
  return { Type: 'AWS::SQS::Queue', Properties: { ...properties, SqsManagedSseEnabled: true } };
}

/** Rights to consume the function's own queue, and to send where its definition says. */
function queueStatements(definition: FunctionDefinition, all: FunctionDefinition[]): object[] {
  const id = logicalId(definition.name);
  return [
    allow(
      ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'],
      [arn(`${id}Queue`)],
    ),
    allow(
      ['sqs:SendMessage'],
      [arn(`${id}DeadLetterQueue`), arn('DelayQueue'), ...(definition.sends ? fifoQueues(all) : [])],
    ),
  ];
}

/** A role that writes the function's log and, where the function has rights in a cluster, reads its kubeconfigs. */
function role({ name, rights }: AnyDefinition, more: object[]): Named {
  const logs = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/${PREFIX}${name}:*`;
  const readsClusters = rights.garden.length + rights.seed.length > 0;
  const statements = [
    ...more,
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [sub(logs)]),
    ...(readsClusters ? [allow(['secretsmanager:GetSecretValue'], [sub(secretArn(name))])] : []),
  ];
  return [
    `${logicalId(name)}Role`,
    {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: policy({
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
          Action: 'sts:AssumeRole',
        }),
        Policies: [{ PolicyName: 'function', PolicyDocument: policy(...statements) }],
      },
    },
  ];
}

/** A policy for the watcher, which runs outside AWS Lambda: it sends to the functions and receives nothing. */
function watcherPolicy(definitions: FunctionDefinition[]): object {
  return {
    Type: 'AWS::IAM::ManagedPolicy',
    Properties: {
      Description: 'Lets a shoot-flux watcher send changes',
      PolicyDocument: policy(allow(['sqs:SendMessage'], fifoQueues(definitions))),
    },
  };
}

function fifoQueues(definitions: FunctionDefinition[]): object[] {
  return definitions.filter(({ queue }) => queue !== 'standard').map(({ name }) => arn(`${logicalId(name)}Queue`));
}

/** Each function has its own kubeconfigs, because it has its own rights in each cluster. */
function secretPrefix(name: string): string {
  return `\${param:prefix, 'shoot-flux'}/\${sls:stage}/${name}/`;
}

function secretArn(name: string): string {
  return `arn:\${AWS::Partition}:secretsmanager:\${AWS::Region}:\${AWS::AccountId}:secret:${secretPrefix(name)}*`;
}

function allow(Action: string[], Resource: object[]): object {
  return { Effect: 'Allow', Action, Resource };
}

function policy(...Statement: object[]): object {
  return { Version: '2012-10-17', Statement };
}

function arn(id: string): object {
  return { 'Fn::GetAtt': [id, 'Arn'] };
}

function sub(text: string): object {
  return { 'Fn::Sub': text };
}

/** `managed-resources` -> `ManagedResources`. */
function logicalId(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
