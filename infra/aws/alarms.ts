import { DELAY, MAX_DELAY_SECONDS } from '../../events/sqs/queues.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { AnyDefinition } from '../functions.ts';
import { logicalId, type Named, PREFIX } from './resources.ts';
import type { Parameters } from './serverless.ts';
import { heartbeatDimensions, NAMESPACE, WATCHER_HEARTBEAT, WATCHER_HEARTBEAT_SECONDS } from './watcher-heartbeat.ts';

interface Alarm {
  /** Appended to the deployment's prefix. */
  name: string;
  description: string;
  metric: { Namespace: string; MetricName: string; Dimensions: object[] };
  statistic: 'Maximum' | 'Sum';
  atLeast: number | string;
  /** So many of the last minutes. */
  minutes: [bad: number, of: number];
}

/** How old a change may become before an alarm; what waits in the delay queue may be older by its delay. */
const AGE_SECONDS = 900;

/** Minutes without a heartbeat. A watcher that is replaced needs less than one. */
const SILENT_MINUTES = 5;

/** Returns the alarms of a deployment: for each function, and for each watched cluster. */
export function alarms(queued: FunctionDefinition[], all: AnyDefinition[], parameters: Parameters): Named[] {
  const { seeds, alarmTopic } = parameters;
  return [
    ...[...queued.flatMap(queueAlarms), ...all.flatMap(lambdaAlarms)].map((alarm) => resource(alarm, alarmTopic)),
    ...[GARDEN, ...seeds].map((cluster, index) => heartbeatAlarm(cluster, index, alarmTopic)),
  ];
}

function queueAlarms(definition: FunctionDefinition): Alarm[] {
  const { name } = definition;
  const id = logicalId(name);
  const queueMetric = (MetricName: string, queue: string) => ({
    Namespace: 'AWS/SQS',
    MetricName,
    Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }],
  });
  return [
    {
      name: `${name}-dead-letters`,
      description: `Changes for ${name} were given up; the attribute "reason" of a message says why.`,
      metric: queueMetric('ApproximateNumberOfMessagesVisible', `${id}DeadLetterQueue`),
      statistic: 'Maximum',
      atLeast: 1,
      minutes: [1, 1],
    },
    {
      name: `${name}-age`,
      description: `The oldest change for ${name} has waited too long.`,
      metric: queueMetric('ApproximateAgeOfOldestMessage', `${id}Queue`),
      statistic: 'Maximum',
      atLeast: name === DELAY ? AGE_SECONDS + MAX_DELAY_SECONDS : AGE_SECONDS,
      minutes: [3, 3],
    },
  ];
}

/** A failing change is no error of a Lambda: these are crashes, time limits and starts that fail. */
function lambdaAlarms({ name }: AnyDefinition): Alarm[] {
  const Dimensions = [{ Name: 'FunctionName', Value: `${PREFIX}${name}` }];
  const alarm = (MetricName: string, description: string): Alarm => ({
    ...{ name: `${name}-${MetricName.toLowerCase()}`, description, statistic: 'Sum', atLeast: 1, minutes: [3, 5] },
    metric: { Namespace: 'AWS/Lambda', MetricName, Dimensions },
  });
  return [
    alarm('Errors', `The Lambda ${name} ends without an answer; its log says why.`),
    alarm('Throttles', `The Lambda ${name} needs more concurrency than it may use.`),
  ];
}

function resource({ name, description, metric, statistic, atLeast, minutes: [bad, of] }: Alarm, topic?: string): Named {
  return [
    `${logicalId(name)}Alarm`,
    alarm(name, topic, {
      AlarmDescription: description,
      ...metric,
      Statistic: statistic,
      Period: 60,
      EvaluationPeriods: of,
      DatapointsToAlarm: bad,
      Threshold: atLeast,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      TreatMissingData: 'notBreaching',
    }),
  ];
}

/** Every cluster has a watcher, wherever it runs; without one its changes are noticed by nothing. */
function heartbeatAlarm(cluster: string, index: number, topic: string | undefined): Named {
  return [
    `WatcherHeartbeat${index}Alarm`,
    alarm(`watcher-${cluster}`, topic, {
      AlarmDescription: `No watcher of ${cluster} makes progress: its changes reach no function.`,
      Namespace: NAMESPACE,
      MetricName: WATCHER_HEARTBEAT,
      Dimensions: heartbeatDimensions(PREFIX, cluster),
      Statistic: 'Sum',
      Period: WATCHER_HEARTBEAT_SECONDS,
      EvaluationPeriods: SILENT_MINUTES,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    }),
  ];
}

function alarm(name: string, topic: string | undefined, properties: object): object {
  const actions = topic === undefined ? {} : { AlarmActions: [topic], OKActions: [topic] };
  return { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmName: `${PREFIX}${name}`, ...properties, ...actions } };
}
