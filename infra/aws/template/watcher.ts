import { DELAY } from '../../../events/sqs/queues.ts';
import type { FunctionDefinition } from '../../../shared/runtime/definition.ts';
import { NAMESPACE } from '../watcher-metric.ts';
import { allow, arn, logicalId, type Named, policy, sub } from './cloudformation.ts';
import type { Parameters } from './parameters.ts';
import { fifoQueues } from './queues.ts';
import { ROLE_PREFIX } from './roles.ts';

/** The audience that AWS expects in a token of another issuer. */
const AUDIENCE = 'sts.amazonaws.com';

/**
 * Returns what watchers need, which run in clusters: a policy, and a role that their ServiceAccounts get by web identity.
 * They send to the functions and receive nothing.
 */
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
