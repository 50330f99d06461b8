import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delayDefinition } from '../../events/sqs/queues.ts';
import { bundleFolder, bundleFunction } from '../bundle/bundle.ts';
import { type AnyDefinition, findDefinitions, findWebhookDefinitions, pushDefinition } from '../functions.ts';
import { serverlessParts } from './serverless.ts';

interface Arn {
  'Fn::GetAtt': [id: string, attribute: string];
}
interface Statement {
  Action: string[];
  Resource: Partial<Arn>[];
  Condition?: object;
}
interface Policy {
  PolicyDocument: { Statement: Statement[] };
}
/** The properties that are compared, of all types. */
interface Properties extends Partial<Policy> {
  FunctionName: string | Arn;
  QueueName: string;
  RedrivePolicy: { deadLetterTargetArn: Arn };
  Tags: object[];
  Role: Arn;
  Policies: Policy[];
  AssumeRolePolicyDocument: { Statement: Statement[] };
  EventSourceArn: Arn;
  ScalingConfig: { MaximumConcurrency: number };
  TargetFunctionArn: Arn;
  AlarmName: string;
  MetricName: string;
  Dimensions: { Name: string; Value: unknown }[];
  AlarmActions?: string[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const definitions = [...(await findDefinitions()), delayDefinition];
const webhooks = await findWebhookDefinitions();
const push = pushDefinition;
const all: AnyDefinition[] = [...definitions, ...webhooks, push];
const TOPIC = 'arn:aws:sns:eu-central-1:123456789012:on-call';
const parameters = {
  prefix: 'other',
  seeds: 'eu-1,eu-2',
  clusterAccess: 'web-identity',
  watcherIssuers: 'https://a.example.com/one,https://b.example.com/',
  alarmTopic: TOPIC,
  reservedConcurrencyKeys: '5',
  maximumConcurrency: '4',
  maximumConcurrencyKeys: '3',
  pushUrl: 'https://flux.example.org',
};
let folder: string;
let resources: Record<string, { Type: string; Properties: Properties }>;

/** Packages like a pipeline without AWS: no credentials, no account. */
beforeAll(async () => {
  for (const definition of all)
    if (!existsSync(`${bundleFolder}/${definition.name}/index.mjs`)) await bundleFunction(definition);
  folder = await mkdtemp(join(tmpdir(), 'serverless-'));
  const env = { PATH: process.env.PATH, HOME: folder, SLS_TELEMETRY_DISABLED: '1', SLS_NOTIFICATIONS_MODE: 'off' };
  const given = Object.entries(parameters).flatMap(([name, value]) => ['--param', `${name}=${value}`]);
  const args = [join(root, 'node_modules/.bin/osls'), 'package', '--stage', 'test', '--package', folder, ...given];
  const child = spawn(process.execPath, args, { cwd: root, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`osls package failed: ${output}`);
  const template = await readFile(join(folder, 'cloudformation-template-update-stack.json'), 'utf8');
  resources = JSON.parse(template).Resources;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ofType = (type: string): Properties[] =>
  Object.values(resources)
    .filter(({ Type }) => Type === `AWS::${type}`)
    .map(({ Properties }) => Properties);
const idIn = (arn: Partial<Arn> | undefined) => arn?.['Fn::GetAtt']?.[0] ?? '';
const lambdaOf = ({ name }: AnyDefinition) =>
  ofType('Lambda::Function').find(({ FunctionName }) => FunctionName === `other-test-${name}`);
const idOf = (name: string) => Object.entries(resources).find(([, one]) => one.Properties.QueueName === name)?.[0];
const isFifo = ({ name }: AnyDefinition) => name !== 'delay';
const queueName = (definition: AnyDefinition, kind = '') =>
  `other-test-${definition.name}${kind}${isFifo(definition) ? '.fifo' : ''}`;
const queueId = (definition: AnyDefinition, kind = '') => idOf(queueName(definition, kind)) ?? '';
const statementsOf = (definition: AnyDefinition) =>
  (resources[idIn(lambdaOf(definition)?.Role)]?.Properties.Policies ?? []).flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );
const allowed = (statements: Statement[], action: string) =>
  statements.flatMap(({ Action, Resource }) => (Action.includes(action) ? Resource.map(idIn) : [])).sort();

describe('serverless.yml', () => {
  it('has exactly one Lambda for each function, which runs its bundle for at most ten seconds', () => {
    expect(ofType('Lambda::Function')).toHaveLength(all.length);
    for (const definition of all) {
      expect(lambdaOf(definition)).toMatchObject({
        Handler: `dist/functions/${definition.name}/index.handler`,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: 10,
        ...(definition.name === 'keys' && { ReservedConcurrentExecutions: 5 }),
      });
    }
  });

  it('gives each function its queue with dead letters, and wakes it by this queue alone', () => {
    expect(ofType('SQS::Queue')).toHaveLength(2 * definitions.length);
    const sources = ofType('Lambda::EventSourceMapping');
    expect(sources).toHaveLength(definitions.length);
    for (const definition of definitions) {
      const fifo = isFifo(definition) ? true : undefined;
      const queue = resources[queueId(definition)]?.Properties;
      // AWS refuses an event source whose function may run longer.
      expect(queue).toMatchObject({ VisibilityTimeout: 20, SqsManagedSseEnabled: true });
      expect([queue, resources[queueId(definition, '-dead-letter')]?.Properties]).toEqual(
        Array(2).fill(
          fifo ? expect.objectContaining({ FifoQueue: true }) : expect.not.objectContaining({ FifoQueue: true }),
        ),
      );
      expect(idIn(queue?.RedrivePolicy.deadLetterTargetArn)).toBe(queueId(definition, '-dead-letter'));
      const source = sources.find(({ EventSourceArn }) => idIn(EventSourceArn) === queueId(definition));
      expect(source).toMatchObject({
        BatchSize: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: definition.name === 'keys' ? 3 : 4 },
      });
      expect(resources[idIn(source?.FunctionName as Arn)]?.Properties).toBe(lambdaOf(definition));
    }
    expect(resources[idOf('other-test-delay') ?? '']?.Properties.Tags).toEqual([
      { Key: 'shoot-flux-seeds-0', Value: 'eu-1 eu-2' },
    ]);
  });

  it('lets a function consume only its own queue, and send only where its definition says', () => {
    for (const definition of definitions) {
      const statements = statementsOf(definition);
      const others = definition.sends ? definitions.filter(isFifo).map((other) => queueId(other)) : [];
      const sendable = [queueId(definition, '-dead-letter'), idOf('other-test-delay'), ...others];
      expect(allowed(statements, 'sqs:ReceiveMessage')).toEqual([queueId(definition)]);
      expect(allowed(statements, 'sqs:DeleteMessage')).toEqual([queueId(definition)]);
      expect(allowed(statements, 'sqs:SendMessage')).toEqual(sendable.sort());
      expect(statements.flatMap(({ Action }) => Action).filter((action) => action.includes('*'))).toEqual([]);
    }
  });

  it('gives each webhook a URL, no queue, and only the rights it needs', () => {
    const targets = ofType('Lambda::Url').map(
      ({ TargetFunctionArn }) => resources[idIn(TargetFunctionArn)]?.Properties,
    );
    expect(new Set(targets)).toEqual(new Set([...webhooks, push].map(lambdaOf)));
    for (const webhook of webhooks) {
      expect(lambdaOf(webhook)).toMatchObject({
        ReservedConcurrentExecutions: 20,
        // Without the parameter every request is refused.
        Environment: { Variables: { WEBHOOK_TOKEN_SHA256: '' } },
      });
    }
    expect(lambdaOf(push)).toMatchObject({ ReservedConcurrentExecutions: 20 });
    for (const definition of [push, ...definitions]) {
      expect(lambdaOf(definition)).toMatchObject({ Environment: { Variables: { PUSH_URL: parameters.pushUrl } } });
    }
    const logs = ['logs:CreateLogStream', 'logs:PutLogEvents'];
    expect(
      [...webhooks, push].map((webhook) => [webhook.name, statementsOf(webhook).flatMap(({ Action }) => Action)]),
    ).toEqual([
      ['admission', logs],
      ['resource-manager-webhook', [...logs, 'secretsmanager:GetSecretValue', 'sts:GetWebIdentityToken']],
      ['push-webhook', [...logs, 'secretsmanager:GetSecretValue', 'sts:GetWebIdentityToken']],
    ]);
  });

  it('has an alarm for each queue, Lambda and watcher', () => {
    const alarms = ofType('CloudWatch::Alarm');
    const named = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `other-test-${name}`);
    const watched = (name: string) => [named(name)?.MetricName, idIn(named(name)?.Dimensions[0]?.Value as Arn)];
    for (const definition of definitions) {
      const { name } = definition;
      const deadLetters = queueId(definition, '-dead-letter');
      expect(watched(`${name}-dead-letters`)).toEqual(['ApproximateNumberOfMessagesVisible', deadLetters]);
      expect(watched(`${name}-age`)).toEqual(['ApproximateAgeOfOldestMessage', queueId(definition)]);
    }
    for (const { name } of all) {
      const Dimensions = [{ Name: 'FunctionName', Value: `other-test-${name}` }];
      const common = { Dimensions, TreatMissingData: 'notBreaching' };
      expect(named(`${name}-errors`)).toMatchObject({ MetricName: 'Errors', ...common });
      expect(named(`${name}-throttles`)).toMatchObject({ MetricName: 'Throttles', ...common });
    }
    const clusters = ['garden', 'eu-1', 'eu-2'];
    for (const cluster of clusters) {
      expect(named(`watcher-${cluster}`)).toMatchObject({ TreatMissingData: 'breaching' });
      expect(named(`watcher-${cluster}`)?.Dimensions.map(({ Value }) => Value)).toEqual(['other-test-', cluster]);
    }
    expect(alarms).toHaveLength(2 * definitions.length + 2 * all.length + clusters.length);
    for (const { AlarmActions } of alarms) expect(AlarmActions).toEqual([TOPIC]);
  });

  it('lets watchers send changes and their heartbeat, with the ServiceAccounts of the given issuers', () => {
    const statements = ofType('IAM::ManagedPolicy').flatMap(({ PolicyDocument }) => PolicyDocument?.Statement ?? []);
    const fifo = definitions.filter(isFifo).map((definition) => queueId(definition));
    expect(allowed(statements, 'sqs:SendMessage')).toEqual(fifo.sort());
    expect(allowed(statements, 'sqs:ReceiveMessage')).toEqual([]);
    expect(statements.at(-1)).toMatchObject({
      Action: ['cloudwatch:PutMetricData'],
      Condition: { StringEquals: { 'cloudwatch:namespace': 'shoot-flux' } },
    });
    expect(ofType('IAM::OIDCProvider')).toEqual(
      ['https://a.example.com/one', 'https://b.example.com'].map((Url) => ({
        Url,
        ClientIdList: ['sts.amazonaws.com'],
      })),
    );
    const role = resources.WatcherRole?.Properties;
    expect(role).toMatchObject({ ManagedPolicyArns: [{ Ref: 'WatcherPolicy' }] });
    expect(role?.AssumeRolePolicyDocument.Statement.map(({ Condition }) => Condition)).toEqual(
      ['a.example.com/one', 'b.example.com'].map((issuer) => ({
        StringEquals: { [`${issuer}:aud`]: 'sts.amazonaws.com' },
        StringLike: { [`${issuer}:sub`]: 'system:serviceaccount:shoot-flux:shoot-flux-watcher' },
      })),
    );
  });

  it('lets functions prove their roles to clusters', () => {
    expect(resources.KeysRole?.Properties).toMatchObject({
      RoleName: { 'Fn::Sub': `other-test-\${AWS::Region}-keys` },
    });
    const [keys = delayDefinition] = definitions.filter(({ name }) => name === 'keys');
    expect(statementsOf(keys).slice(-2)).toEqual([
      expect.objectContaining({
        Resource: [{ 'Fn::Sub': expect.stringMatching(/:secret:other\/test\/clusters\/\*$/) }],
      }),
      {
        Effect: 'Allow',
        Action: ['sts:GetWebIdentityToken'],
        Resource: ['*'],
        Condition: {
          'ForAllValues:StringLike': { 'sts:IdentityTokenAudience': 'other-test/*' },
          StringEquals: { 'sts:SigningAlgorithm': 'ES384' },
          NumericLessThanEquals: { 'sts:DurationSeconds': 300 },
        },
      },
    ]);
    const Variables = { KUBECONFIG_SECRET_PREFIX: 'other/test/clusters/', CLUSTER_AUDIENCE_PREFIX: 'other-test/' };
    expect(lambdaOf(keys)).toMatchObject({ Environment: { Variables } });
  });

  it('without parameters trusts no ServiceAccount, notifies nobody, and has a kubeconfig for each function', async () => {
    const { resources, functions } = await serverlessParts(async (variable) =>
      variable === 'sls:stage' ? 'test' : (/'([^']*)'$/.exec(variable)?.[1] ?? ''),
    );
    expect(resources.Resources).not.toHaveProperty('WatcherRole');
    expect(JSON.stringify(resources)).not.toMatch(/AlarmActions|GetWebIdentityToken/);
    const KUBECONFIG_SECRET_PREFIX = `\${param:prefix, 'shoot-flux'}/\${sls:stage}/keys/`;
    expect(functions.keys).toMatchObject({ environment: { KUBECONFIG_SECRET_PREFIX } });
    expect(functions.keys).not.toHaveProperty('reservedConcurrency');
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
