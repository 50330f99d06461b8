import type { FunctionDefinition } from '../../../shared/runtime/definition.ts';
import { type AnyDefinition, isWebhook } from '../../functions.ts';
import { SIGNING_ALGORITHM, TOKEN_SECONDS } from '../web-identity.ts';
import { allow, arn, logicalId, type Named, PREFIX, policy, sub } from './cloudformation.ts';
import type { Parameters } from './parameters.ts';
import { fifoQueues } from './queues.ts';

type ClusterAccess = Parameters['clusterAccess'];

/** Start of the name of every role. A cluster derives the user from what follows: the name of the function. */
export const ROLE_PREFIX = `${PREFIX}\${AWS::Region}-`;

/** Start of the audience of the tokens for clusters; the cluster's name follows. */
export const AUDIENCE_PREFIX = `\${param:prefix, 'shoot-flux'}-\${sls:stage}/`;

/**
 * Returns the role of a function: it consumes its own queue, sends where its definition says, writes its log and, where
 * the definition has rights in a cluster, reads kubeconfigs.
 */
export function role(definition: AnyDefinition, all: FunctionDefinition[], access: ClusterAccess): Named {
  const { name } = definition;
  const logs = `arn:\${AWS::Partition}:logs:\${AWS::Region}:\${AWS::AccountId}:log-group:/aws/lambda/${PREFIX}${name}:*`;
  const statements = [
    ...(isWebhook(definition) ? [] : queueStatements(definition, all)),
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

/**
 * Where kubeconfigs are. Each function has its own, because it has its own rights in each cluster, unless it proves its
 * role to the cluster: then they hold only addresses, and all functions read the same.
 */
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
