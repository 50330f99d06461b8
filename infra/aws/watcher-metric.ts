/** Namespace of our metrics in CloudWatch. */
export const NAMESPACE = 'shoot-flux';

/** 1 for each cluster, once a minute while a watcher of this cluster makes progress. */
export const WATCHER_HEARTBEAT = 'watcher_heartbeat';

/** How often it is sent. */
export const WATCHER_HEARTBEAT_SECONDS = 60;

/** The dimensions of the heartbeat: the deployment by its prefix, and the watched cluster. */
export function heartbeatDimensions(queuePrefix: string, cluster: string): { Name: string; Value: string }[] {
  return [
    { Name: 'queue_prefix', Value: queuePrefix },
    { Name: 'cluster', Value: cluster },
  ];
}
