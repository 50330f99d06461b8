import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delayDefinition } from '../../events/sqs/queues.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';
import { bundleFolder, bundleFunction } from '../bundle/bundle.ts';
import { type AnyDefinition, findDefinitions, findWebhookDefinitions } from '../functions.ts';

interface Arn {
  'Fn::GetAtt': [id: string, attribute: string];
}
interface Lambda {
  FunctionName: string;
  Timeout: number;
  Role: Arn;
}
interface Queue {
  QueueName: string;
  VisibilityTimeout?: number;
  FifoQueue?: true;
  RedrivePolicy?: { deadLetterTargetArn: Arn };
  Tags?: { Key: string; Value: string }[];
}
interface EventSource {
  EventSourceArn: Arn;
  FunctionName: Arn;
  ScalingConfig?: { MaximumConcurrency: number };
}
interface Alarm {
  AlarmName: string;
  MetricName: string;
  Dimensions: { Name: string; Value: unknown }[];
  TreatMissingData: string;
  AlarmActions?: string[];
}
interface Statement {
  Action: string[] | string;
  Resource: unknown[];
  Condition?: object;
  Principal?: object;
}
interface Role {
  RoleName: object;
  AssumeRolePolicyDocument: { Statement: Statement[] };
  ManagedPolicyArns?: object[];
  Policies: { PolicyDocument: { Statement: { Action: string[]; Resource: Partial<Arn>[] }[] } }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
let definitions: FunctionDefinition[];
let webhooks: WebhookDefinition[];
let all: AnyDefinition[];
let folder: string;
let resources: Record<string, { Type: string; Properties: object }>;

beforeAll(async () => {
  definitions = [...(await findDefinitions()), delayDefinition];
  webhooks = await findWebhookDefinitions();
  all = [...definitions, ...webhooks];
  for (const definition of all)
    if (!existsSync(`${bundleFolder}/${definition.name}/index.mjs`)) await bundleFunction(definition);
  folder = await mkdtemp(join(tmpdir(), 'serverless-'));
  resources = await packageOffline(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Like a pipeline without AWS: no credentials, no account. */
async function packageOffline(folder: string, ...parameters: string[]): Promise<typeof resources> {
  const osls = join(root, 'node_modules/.bin/osls');
  const env = { PATH: process.env.PATH, HOME: folder, SLS_TELEMETRY_DISABLED: '1', SLS_NOTIFICATIONS_MODE: 'off' };
  const args = [osls, 'package', '--stage', 'test', '--package', folder, ...parameters];
  const child = spawn(process.execPath, args, { cwd: root, env });
  let output = '';
  child.stdout.on('data', (data) => (output += data));
  child.stderr.on('data', (data) => (output += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`osls package failed: ${output}`);
  return JSON.parse(await readFile(join(folder, 'cloudformation-template-update-stack.json'), 'utf8')).Resources;
}

const ofType = <T>(type: string): T[] =>
  Object.values(resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties as T);
const lambdas = () => ofType<Lambda>('AWS::Lambda::Function');
const lambdaOf = ({ name }: AnyDefinition) =>
  lambdas().find(({ FunctionName }) => FunctionName === `shoot-flux-test-${name}`);
const queues = () => ofType<Queue>('AWS::SQS::Queue');
const queueOf = (name: string) => queues().find(({ QueueName }) => QueueName === name);
const isFifo = ({ name }: FunctionDefinition) => name !== 'delay';
const idOf = (name: string) =>
  Object.entries(resources).find(
    ([, { Properties }]) => 'QueueName' in Properties && Properties.QueueName === name,
  )?.[0];
const idIn = (arn: Partial<Arn> | undefined) => arn?.['Fn::GetAtt']?.[0] ?? '';
const queueName = (definition: FunctionDefinition, kind = '') =>
  `shoot-flux-test-${definition.name}${kind}${isFifo(definition) ? '.fifo' : ''}`;

describe('serverless.yml', () => {
  it('has exactly one Lambda for each function', () => {
    const expected = all.map(({ name }) => `shoot-flux-test-${name}`);
    expect(
      lambdas()
        .map(({ FunctionName }) => FunctionName)
        .sort(),
    ).toEqual(expected.sort());
  });

  it('runs each bundle on Node.js 24 and arm64, for at most ten seconds', () => {
    for (const definition of all) {
      expect(lambdaOf(definition)).toMatchObject({
        Handler: `dist/functions/${definition.name}/index.handler`,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: 10,
      });
    }
  });

  it('gives each function its queue and dead-letter queue of the same kind', () => {
    for (const definition of definitions) {
      const queue = queueOf(queueName(definition));
      const deadLetters = queueOf(queueName(definition, '-dead-letter'));
      expect(queue).toMatchObject({ VisibilityTimeout: 20, SqsManagedSseEnabled: true });
      // AWS refuses an event source whose function may run longer.
      expect(queue?.VisibilityTimeout).toBeGreaterThan(lambdaOf(definition)?.Timeout ?? Number.POSITIVE_INFINITY);
      expect(queue?.FifoQueue).toBe(isFifo(definition) ? true : undefined);
      expect(deadLetters?.FifoQueue).toBe(queue?.FifoQueue);
      expect(idIn(queue?.RedrivePolicy?.deadLetterTargetArn)).toBe(idOf(queueName(definition, '-dead-letter')));
    }
    expect(queues()).toHaveLength(2 * definitions.length);
  });

  it('wakes each function by its own queue, with partial batch responses', () => {
    const sources = ofType<EventSource>('AWS::Lambda::EventSourceMapping');
    expect(sources).toHaveLength(definitions.length);
    for (const definition of definitions) {
      const source = sources.find(({ EventSourceArn }) => idIn(EventSourceArn) === idOf(queueName(definition)));
      expect(source).toMatchObject({ BatchSize: 10, FunctionResponseTypes: ['ReportBatchItemFailures'] });
      expect(resources[idIn(source?.FunctionName)]?.Properties).toBe(lambdaOf(definition));
    }
  });

  it('lets a function consume only its own queue, and send only where its definition says', () => {
    for (const definition of definitions) {
      const role = resources[idIn(lambdaOf(definition)?.Role)]?.Properties as Role;
      const statements = role.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
      const allowed = (action: string) =>
        statements.flatMap(({ Action, Resource }) => (Action.includes(action) ? Resource.map(idIn) : [])).sort();
      const others = definition.sends ? definitions.filter(isFifo).map((other) => idOf(queueName(other))) : [];
      const sendable = [idOf(queueName(definition, '-dead-letter')), idOf('shoot-flux-test-delay'), ...others];
      expect(allowed('sqs:ReceiveMessage')).toEqual([idOf(queueName(definition))]);
      expect(allowed('sqs:DeleteMessage')).toEqual([idOf(queueName(definition))]);
      expect(allowed('sqs:SendMessage')).toEqual(sendable.sort());
      expect(statements.flatMap(({ Action }) => Action).filter((action) => action.includes('*'))).toEqual([]);
    }
  });

  it('gives each webhook a URL, no queue, and only the rights it needs', () => {
    const urls = ofType<{ AuthType: string; TargetFunctionArn: Arn }>('AWS::Lambda::Url');
    const targets = urls.map(({ TargetFunctionArn }) => resources[idIn(TargetFunctionArn)]?.Properties as Lambda);
    expect(targets.map(({ FunctionName }) => FunctionName).sort()).toEqual(
      webhooks.map((webhook) => lambdaOf(webhook)?.FunctionName).sort(),
    );
    expect(webhooks.map(({ name }) => name)).toEqual(['admission', 'resource-manager-webhook']);
    for (const webhook of webhooks) {
      expect(lambdaOf(webhook)).toMatchObject({
        ReservedConcurrentExecutions: 20,
        // Without the parameter every request is refused.
        Environment: { Variables: { WEBHOOK_TOKEN_SHA256: '' } },
      });
    }
    const actions = (definition: WebhookDefinition) => {
      const role = resources[idIn(lambdaOf(definition)?.Role)]?.Properties as Role;
      return role.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.flatMap(({ Action }) => Action));
    };
    expect(webhooks.map(actions)).toEqual([
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
      ['logs:CreateLogStream', 'logs:PutLogEvents', 'secretsmanager:GetSecretValue'],
    ]);
  });

  it('limits the concurrency of each queue', () => {
    const sources = ofType<EventSource>('AWS::Lambda::EventSourceMapping');
    expect(sources.map(({ ScalingConfig }) => ScalingConfig)).toEqual(
      definitions.map(() => ({ MaximumConcurrency: 10 })),
    );
  });

  it('has an alarm for dead letters and waiting changes of each queue, and for crashes and throttles of each Lambda', () => {
    const alarms = ofType<Alarm>('AWS::CloudWatch::Alarm');
    const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `shoot-flux-test-${name}`);
    for (const definition of definitions) {
      const queueOf = (alarm: Alarm | undefined) => idIn(alarm?.Dimensions[0]?.Value as Partial<Arn>);
      const deadLetters = named(`${definition.name}-dead-letters`);
      expect(deadLetters?.MetricName).toBe('ApproximateNumberOfMessagesVisible');
      expect(queueOf(deadLetters)).toBe(idOf(queueName(definition, '-dead-letter')));
      const age = named(`${definition.name}-age`);
      expect(age?.MetricName).toBe('ApproximateAgeOfOldestMessage');
      expect(queueOf(age)).toBe(idOf(queueName(definition)));
    }
    for (const definition of all) {
      for (const [kind, metric] of [
        ['errors', 'Errors'],
        ['throttles', 'Throttles'],
      ]) {
        expect(named(`${definition.name}-${kind}`)).toMatchObject({
          MetricName: metric,
          Dimensions: [{ Name: 'FunctionName', Value: `shoot-flux-test-${definition.name}` }],
          TreatMissingData: 'notBreaching',
        });
      }
    }
    expect(named('watcher-garden')).toMatchObject({ TreatMissingData: 'breaching' });
    expect(alarms).toHaveLength(2 * definitions.length + 2 * all.length + 1);
    expect(alarms.flatMap(({ AlarmActions = [] }) => AlarmActions)).toEqual([]);
  });

  it('gives a watcher, without parameters, only a policy to send changes and its heartbeat', () => {
    const [found] = ofType<{ PolicyDocument: { Statement: Statement[] } }>('AWS::IAM::ManagedPolicy');
    const statements = found?.PolicyDocument.Statement ?? [];
    const targets = statements.filter(({ Action }) => Action.includes('sqs:SendMessage')).flatMap((it) => it.Resource);
    const ids = targets.map((target) => idIn(target as Partial<Arn>));
    expect(ids.sort()).toEqual(
      definitions
        .filter(isFifo)
        .map((definition) => idOf(queueName(definition)))
        .sort(),
    );
    expect(statements.at(-1)).toMatchObject({
      Action: ['cloudwatch:PutMetricData'],
      Condition: { StringEquals: { 'cloudwatch:namespace': 'shoot-flux' } },
    });
    expect(JSON.stringify(statements)).not.toContain('ReceiveMessage');
    expect(resources).not.toHaveProperty('WatcherRole');
  });

  it('with parameters has other names and limits, trusts ServiceAccounts and watches every seed', async () => {
    const before = resources;
    const otherFolder = await mkdtemp(join(tmpdir(), 'serverless-'));
    const parameters = [
      'prefix=other',
      'seeds=eu-1,eu-2',
      'clusterAccess=web-identity',
      'watcherIssuers=https://a.example.com/one,https://b.example.com/',
      'alarmTopic=arn:aws:sns:eu-central-1:123456789012:on-call',
      'reservedConcurrencyKeys=5',
      'maximumConcurrency=4',
      'maximumConcurrencyKeys=3',
    ];
    try {
      resources = await packageOffline(otherFolder, ...parameters.flatMap((parameter) => ['--param', parameter]));
      const names = queues().map(({ QueueName }) => QueueName);
      expect(names).toContain('other-test-keys.fifo');
      expect(names.filter((name) => !name.startsWith('other-test-'))).toEqual([]);
      expect(lambdas().filter(({ FunctionName }) => !FunctionName.startsWith('other-test-'))).toEqual([]);
      const limits = ofType<EventSource>('AWS::Lambda::EventSourceMapping').map(({ EventSourceArn, ScalingConfig }) => [
        idIn(EventSourceArn),
        ScalingConfig?.MaximumConcurrency,
      ]);
      expect(limits).toContainEqual(['KeysQueue', 3]);
      expect(limits).toContainEqual(['ManagedResourcesQueue', 4]);
      const providers = ofType<{ Url: string; ClientIdList: string[] }>('AWS::IAM::OIDCProvider');
      expect(providers).toEqual([
        { Url: 'https://a.example.com/one', ClientIdList: ['sts.amazonaws.com'] },
        { Url: 'https://b.example.com', ClientIdList: ['sts.amazonaws.com'] },
      ]);
      expect(queueOf('other-test-delay')?.Tags).toEqual([{ Key: 'shoot-flux-seeds-0', Value: 'eu-1 eu-2' }]);
      const watcher = resources.WatcherRole?.Properties as Role;
      expect(watcher.ManagedPolicyArns).toEqual([{ Ref: 'WatcherPolicy' }]);
      expect(watcher.AssumeRolePolicyDocument.Statement.map(({ Condition }) => Condition)).toEqual(
        ['a.example.com/one', 'b.example.com'].map((issuer) => ({
          StringEquals: { [`${issuer}:aud`]: 'sts.amazonaws.com' },
          StringLike: { [`${issuer}:sub`]: 'system:serviceaccount:shoot-flux:shoot-flux-watcher' },
        })),
      );
      const keys = resources.KeysRole?.Properties as Role;
      const statements = keys.Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement as Statement[]);
      expect(keys.RoleName).toEqual({ 'Fn::Sub': `other-test-\${AWS::Region}-keys` });
      expect(statements.at(-2)?.Resource).toEqual([
        { 'Fn::Sub': expect.stringMatching(/:secret:other\/test\/clusters\/\*$/) },
      ]);
      expect(statements.at(-1)).toEqual({
        Effect: 'Allow',
        Action: ['sts:GetWebIdentityToken'],
        Resource: ['*'],
        Condition: {
          'ForAllValues:StringLike': { 'sts:IdentityTokenAudience': 'other-test/*' },
          StringEquals: { 'sts:SigningAlgorithm': 'ES384' },
          NumericLessThanEquals: { 'sts:DurationSeconds': 300 },
        },
      });
      const keysLambda = lambdas().find(({ FunctionName }) => FunctionName === 'other-test-keys');
      expect(keysLambda).toMatchObject({
        ReservedConcurrentExecutions: 5,
        Environment: {
          Variables: {
            KUBECONFIG_SECRET_PREFIX: 'other/test/clusters/',
            CLUSTER_AUDIENCE_PREFIX: 'other-test/',
          },
        },
      });
      const alarms = ofType<Alarm>('AWS::CloudWatch::Alarm');
      const watched = alarms.filter(({ MetricName }) => MetricName === 'watcher_heartbeat');
      expect(watched.map(({ Dimensions }) => Dimensions.map(({ Value }) => Value))).toEqual(
        ['garden', 'eu-1', 'eu-2'].map((cluster) => ['other-test-', cluster]),
      );
      expect(new Set(alarms.flatMap(({ AlarmActions }) => AlarmActions))).toEqual(
        new Set(['arn:aws:sns:eu-central-1:123456789012:on-call']),
      );
    } finally {
      resources = before;
      await rm(otherFolder, { recursive: true });
    }
  });

  it('packages each bundle with its lazy chunks separately', async () => {
    for (const { name } of all) {
      const archive = (await readFile(join(folder, `${name}.zip`))).toString('latin1');
      expect(archive).toContain(`dist/functions/${name}/index.mjs`);
      expect(archive).toContain(`dist/functions/${name}/chunks/`);
      const others = all.filter((other) => other.name !== name);
      expect(others.filter((other) => archive.includes(`dist/functions/${other.name}/`))).toEqual([]);
    }
  });
});
