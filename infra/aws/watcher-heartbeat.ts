import type { SqsSender } from '../../events/sqs/open-sender.ts';
import type { OpenSender, WatchedHeartbeat } from '../../events/transport.ts';
import { repeat } from '../repeat.ts';
import { type AwsEndpoint, awsQuery } from './request.ts';

export const NAMESPACE = 'shoot-flux';

/** 1 for each cluster, once a minute while a watcher of this cluster makes progress. */
export const WATCHER_HEARTBEAT = 'watcher_heartbeat';

export const WATCHER_HEARTBEAT_SECONDS = 60;

/** The dimensions of the heartbeat: the deployment by its prefix, and the watched cluster. */
export function heartbeatDimensions(queuePrefix: string, cluster: string): { Name: string; Value: string }[] {
  return [
    { Name: 'queue_prefix', Value: queuePrefix },
    { Name: 'cluster', Value: cluster },
  ];
}

interface WatcherHeartbeatOptions extends WatchedHeartbeat {
  /** Where CloudWatch is, and the watcher's credentials. */
  cloudWatch: AwsEndpoint;
  queuePrefix: string;
  everyMs?: number;
}

/**
 * Adds the heartbeat to a sender to SQS of AWS. `AWS_ENDPOINT_URL_CLOUDWATCH` and `AWS_ENDPOINT_URL` replace AWS's
 * CloudWatch, as everywhere in AWS's own tools.
 * @param sqsEndpoint another SQS; without one of these variables it has no CloudWatch
 */
export async function withCloudWatch(
  opened: SqsSender,
  queuePrefix: string,
  sqsEndpoint: string | undefined,
  variables: NodeJS.ProcessEnv = process.env,
): Promise<OpenSender> {
  const endpoint = variables.AWS_ENDPOINT_URL_CLOUDWATCH ?? variables.AWS_ENDPOINT_URL;
  const isAws = sqsEndpoint === undefined || new URL(sqsEndpoint).hostname.endsWith('.amazonaws.com');
  if (!isAws && endpoint === undefined) return opened;
  const { identity } = opened;
  const cloudWatch = { region: await identity.region(), credentials: identity.credentials, endpoint };
  return { ...opened, startHeartbeat: (watched) => startWatcherHeartbeat({ ...watched, cloudWatch, queuePrefix }) };
}

/** Shows CloudWatch once a minute that the watcher of these clusters makes progress. */
export function startWatcherHeartbeat(options: WatcherHeartbeatOptions): { stop(): Promise<void> } {
  const { alive, log, everyMs = WATCHER_HEARTBEAT_SECONDS * 1000 } = options;
  return repeat(
    () => everyMs,
    async () => {
      if (!alive()) return 'the watcher makes no progress';
      await putMetrics(options);
      return undefined;
    },
    (error) => {
      if (error === undefined) log.info('heartbeat to CloudWatch recovered');
      else log.warn('heartbeat to CloudWatch failed', { error });
    },
  );
}

/** One queue prefix serves fewer clusters than the 1,000 values that CloudWatch takes at a time. */
async function putMetrics({ cloudWatch, queuePrefix, clusters }: WatcherHeartbeatOptions): Promise<void> {
  const parameters = new URLSearchParams({ Action: 'PutMetricData', Version: '2010-08-01', Namespace: NAMESPACE });
  for (const [index, cluster] of clusters.entries()) {
    const member = `MetricData.member.${index + 1}`;
    parameters.set(`${member}.MetricName`, WATCHER_HEARTBEAT);
    parameters.set(`${member}.Value`, '1');
    for (const [position, { Name, Value }] of heartbeatDimensions(queuePrefix, cluster).entries()) {
      parameters.set(`${member}.Dimensions.member.${position + 1}.Name`, Name);
      parameters.set(`${member}.Dimensions.member.${position + 1}.Value`, Value);
    }
  }
  await awsQuery(cloudWatch, {
    service: 'monitoring',
    parameters,
    failure: 'CloudWatch does not take the heartbeat',
    remedy: "the watcher's role needs cloudwatch:PutMetricData",
  });
}
