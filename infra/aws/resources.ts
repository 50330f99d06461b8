import { tagsOf } from '../../events/sqs/open-sender.ts';
import {
  DEAD_LETTER_RETENTION_SECONDS,
  DELAY,
  isFifo,
  MAX_RECEIVE_COUNT,
  queueNames,
  VISIBILITY_SECONDS,
} from '../../events/sqs/queues.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { type AnyDefinition, isQueued } from '../functions.ts';
import { SIGNING_ALGORITHM, TOKEN_SECONDS } from './clusters.ts';
import type { Parameters } from './serverless.ts';
import { NAMESPACE } from './watcher-heartbeat.ts';

/** Prefix of all names of a deployment, so that several have no queue in common; osls replaces the variables. */
export const PREFIX = `\${param:prefix, 'shoot-flux'}-\${sls:stage}-`;

/** A resource, output or function of the template with its logical id. */
export type Named = readonly [id: string, properties: object];

function allow(Action: string[], Resource: unknown[], Condition?: object): object {
  return { Effect: 'Allow', Action, Resource, ...(Condition !== undefined && { Condition }) };
}

/** A policy of these statements. */
export function policy(...Statement: object[]): object {
  return { Version: '2012-10-17', Statement };
}

/** The ARN of a resource of the template. */
export function arn(id: string): object {
  return { 'Fn::GetAtt': [id, 'Arn'] };
}

/** A text in which CloudFormation replaces `${AWS::Region}` and the like. */
function sub(text: string): object {
  return { 'Fn::Sub': text };
}

/** `managed-resources` -> `ManagedResources`. */
export function logicalId(name: string): string {
  return name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** What precedes the name of a function in the URL of its queue. */
export const queueUrlPrefix = sub(`https://sqs.\${AWS::Region}.\${AWS::URLSuffix}/\${AWS::AccountId}/${PREFIX}`);

/** Returns the queues of a function, which refuse requests without TLS; watchers read the seeds on the delay queue. */
export function queues(definition: FunctionDefinition, seeds: string[]): Named[] {
  const id = logicalId(definition.name);
  const names = queueNames(definition.name, PREFIX);
  const Tags = Object.entries(tagsOf(seeds)).map(([Key, Value]) => ({ Key, Value }));
  // High throughput: limits apply to each group instead of the queue.
  const fifo = isFifo(definition.name)
    ? { FifoQueue: true, DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' }
    : {};
  return [
    [
      `${id}Queue`,
      queue({
        QueueName: names.queue,
        ...fifo,
        VisibilityTimeout: VISIBILITY_SECONDS,
        ...(definition.name === DELAY && seeds.length > 0 && { Tags }),
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

function fifoQueues(definitions: FunctionDefinition[]): object[] {
  return definitions.filter(({ name }) => isFifo(name)).map(({ name }) => arn(`${logicalId(name)}Queue`));
}

function queue(properties: object): object {
  return { Type: 'AWS::SQS::Queue', Properties: { ...properties, SqsManagedSseEnabled: true } };
}

type ClusterAccess = Parameters['clusterAccess'];

/** Start of the name of every role. A cluster derives the user from what follows: the name of the function. */
const ROLE_PREFIX = `${PREFIX}\${AWS::Region}-`;

/** Start of the audience of the tokens for clusters; the cluster's name follows. */
export const AUDIENCE_PREFIX = `\${param:prefix, 'shoot-flux'}-\${sls:stage}/`;

/** Returns the role of a function: its own queue, where it sends, its log and, with rights in clusters, kubeconfigs. */
export function role(definition: AnyDefinition, all: FunctionDefinition[], access: ClusterAccess): Named {
  const { name } = definition;
  const logs = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/${PREFIX}${name}:*`;
  const statements = [
    ...(isQueued(definition) ? queueStatements(definition, all) : []),
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], [sub(logs)]),
    ...clusterStatements(definition, access),
  ];
  return [
    `${logicalId(name)}Role`,
    {
      Type: 'AWS::IAM::Role',
      Properties: {
        RoleName: sub(`${ROLE_PREFIX}${name}`),
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

/** Where kubeconfigs are: each function has its own rights and so its own, unless it proves its role to the cluster. */
export function secretPrefix(name: string, access: ClusterAccess): string {
  return `\${param:prefix, 'shoot-flux'}/\${sls:stage}/${access === 'web-identity' ? 'clusters' : name}/`;
}

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

function clusterStatements({ name, rights }: AnyDefinition, access: ClusterAccess): object[] {
  if (rights.garden.length + rights.seed.length === 0) return [];
  const secrets = `arn:\${AWS::Partition}:secretsmanager:\${AWS::Region}:\${AWS::AccountId}:secret:${secretPrefix(name, access)}*`;
  const read = allow(['secretsmanager:GetSecretValue'], [sub(secrets)]);
  if (access === 'kubeconfig') return [read];
  const token = allow(['sts:GetWebIdentityToken'], ['*'], {
    'ForAllValues:StringLike': { 'sts:IdentityTokenAudience': `${AUDIENCE_PREFIX}*` },
    StringEquals: { 'sts:SigningAlgorithm': SIGNING_ALGORITHM },
    NumericLessThanEquals: { 'sts:DurationSeconds': TOKEN_SECONDS },
  });
  return [read, token];
}

/** The audience that AWS expects in a token of another issuer. */
const AUDIENCE = 'sts.amazonaws.com';

/** Returns what watchers need, which send and never receive: a policy, and a role for their ServiceAccounts. */
export function watcherResources(definitions: FunctionDefinition[], parameters: Parameters): Named[] {
  const { watcherIssuers, watcherSubject, createsProviders } = parameters;
  const watcherPolicy: Named = [
    'WatcherPolicy',
    {
      Type: 'AWS::IAM::ManagedPolicy',
      Properties: {
        Description: 'Permits a shoot-flux watcher to send changes and its heartbeat',
        PolicyDocument: policy(
          allow(['sqs:SendMessage', 'sqs:GetQueueUrl'], fifoQueues(definitions)),
          // Its tags say which seeds the functions serve.
          allow(['sqs:GetQueueUrl', 'sqs:ListQueueTags'], [arn(`${logicalId(DELAY)}Queue`)]),
          allow(['cloudwatch:PutMetricData'], ['*'], { StringEquals: { 'cloudwatch:namespace': NAMESPACE } }),
        ),
      },
    },
  ];
  if (watcherIssuers.length === 0) return [watcherPolicy];
  const providers = createsProviders ? watcherIssuers.map(provider) : [];
  return [watcherPolicy, ...providers, watcherRole(watcherIssuers, watcherSubject, providers)];
}

function provider(issuer: string, index: number): Named {
  return [
    `WatcherIssuer${index + 1}`,
    { Type: 'AWS::IAM::OIDCProvider', Properties: { Url: `https://${issuer}`, ClientIdList: [AUDIENCE] } },
  ];
}

function watcherRole(issuers: string[], subject: string, providers: Named[]): Named {
  const trust = issuers.map((issuer) => ({
    Effect: 'Allow',
    Principal: { Federated: sub(`arn:\${AWS::Partition}:iam::\${AWS::AccountId}:oidc-provider/${issuer}`) },
    Action: 'sts:AssumeRoleWithWebIdentity',
    Condition: {
      StringEquals: { [`${issuer}:aud`]: AUDIENCE },
      StringLike: { [`${issuer}:sub`]: subject },
    },
  }));
  return [
    'WatcherRole',
    {
      Type: 'AWS::IAM::Role',
      ...(providers.length > 0 && { DependsOn: providers.map(([id]) => id) }),
      Properties: {
        RoleName: sub(`${ROLE_PREFIX}watcher`),
        AssumeRolePolicyDocument: policy(...trust),
        ManagedPolicyArns: [{ Ref: 'WatcherPolicy' }],
      },
    },
  ];
}
