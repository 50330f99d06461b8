import { DELAY, MAX_DELAY_SECONDS } from '../../events/sqs/queues.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { AnyDefinition } from '../functions.ts';
import { logicalId, type Named, PREFIX } from './resources.ts';
import type { Parameters } from './serverless.ts';
import { heartbeatDimensions, NAMESPACE, WATCHER_HEARTBEAT, WATCHER_HEARTBEAT_SECONDS } from './watcher-heartbeat.ts';

/** Properties of an alarm besides what all have in common. */
interface Alarm {
  /** Appended to the deployment's prefix. */
  name: string;
  /** Start of the logical id, where it does not follow from the name. */
  id?: string;
  AlarmDescription: string;
  [property: string]: unknown;
}

/** How old a change may become before an alarm; what waits in the delay queue may be older by its delay. */
const AGE_SECONDS = 900;

/** Minutes without a heartbeat. A watcher that is replaced needs less than one. */
const SILENT_MINUTES = 5;

/** Returns the alarms of a deployment: for each function, and for each watched cluster. */
export function alarms(queued: FunctionDefinition[], all: AnyDefinition[], parameters: Parameters): Named[] {
  const { seeds, alarmTopic } = parameters;
  const actions = alarmTopic === undefined ? {} : { AlarmActions: [alarmTopic], OKActions: [alarmTopic] };
  return [...queued.flatMap(queueAlarms), ...all.flatMap(lambdaAlarms), ...[GARDEN, ...seeds].map(heartbeatAlarm)].map(
    ({ name, id = logicalId(name), ...properties }) => [
      `${id}Alarm`,
      { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmName: `${PREFIX}${name}`, ...properties, ...actions } },
    ],
  );
}

/** The alarm goes off when `bad` of the last `of` minutes reach the threshold. */
function tooMuch(Threshold: number, [bad, of]: [bad: number, of: number]) {
  return {
    ...{ Threshold, Period: 60, EvaluationPeriods: of, DatapointsToAlarm: bad },
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    TreatMissingData: 'notBreaching',
  };
}

function queueAlarms({ name }: FunctionDefinition): Alarm[] {
  const id = logicalId(name);
  const maximumOf = (MetricName: string, queue: string) => ({
    ...{ Namespace: 'AWS/SQS', MetricName, Statistic: 'Maximum' },
    Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }],
  });
  return [
    {
      name: `${name}-dead-letters`,
      AlarmDescription: `Changes for ${name} were given up; the attribute "reason" of a message says why.`,
      ...maximumOf('ApproximateNumberOfMessagesVisible', `${id}DeadLetterQueue`),
      ...tooMuch(1, [1, 1]),
    },
    {
      name: `${name}-age`,
      AlarmDescription: `The oldest change for ${name} has waited too long.`,
      ...maximumOf('ApproximateAgeOfOldestMessage', `${id}Queue`),
      ...tooMuch(name === DELAY ? AGE_SECONDS + MAX_DELAY_SECONDS : AGE_SECONDS, [3, 3]),
    },
  ];
}

/** A failing change is no error of a Lambda: these are crashes, time limits and starts that fail. */
function lambdaAlarms({ name }: AnyDefinition): Alarm[] {
  const Dimensions = [{ Name: 'FunctionName', Value: `${PREFIX}${name}` }];
  const alarm = (MetricName: string, AlarmDescription: string): Alarm => ({
    ...{ name: `${name}-${MetricName.toLowerCase()}`, AlarmDescription },
    ...{ Namespace: 'AWS/Lambda', MetricName, Dimensions, Statistic: 'Sum' },
    ...tooMuch(1, [3, 5]),
  });
  return [
    alarm('Errors', `The Lambda ${name} ends without an answer; its log says why.`),
    alarm('Throttles', `The Lambda ${name} needs more concurrency than it may use.`),
  ];
}

/** Every cluster has a watcher, wherever it runs; without one its changes are noticed by nothing. */
function heartbeatAlarm(cluster: string, index: number): Alarm {
  return {
    ...{ name: `watcher-${cluster}`, id: `WatcherHeartbeat${index}` },
    AlarmDescription: `No watcher of ${cluster} makes progress: its changes reach no function.`,
    ...{ Namespace: NAMESPACE, MetricName: WATCHER_HEARTBEAT, Statistic: 'Sum' },
    Dimensions: heartbeatDimensions(PREFIX, cluster),
    ...{ Threshold: 1, Period: WATCHER_HEARTBEAT_SECONDS, EvaluationPeriods: SILENT_MINUTES },
    ComparisonOperator: 'LessThanThreshold',
    TreatMissingData: 'breaching',
  };
}
