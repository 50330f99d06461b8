import { serverlessParts } from '../../aws/serverless.ts';
import { findDefinitions } from '../../functions.ts';
import type { Stack } from './aws.ts';

/**
 * Time series of one function: `reconcile_total` by five results, `reconcile_seconds`, `queue_age_seconds`,
 * `retries_total`, `terminal_total` and `coalesced_total`.
 */
export const METRICS_OF_A_FUNCTION = 10;

/** Counts what the template creates for so many seeds, with identities of AWS for the functions. */
export async function stackOf(seeds: number): Promise<Stack> {
  const names = Array.from({ length: seeds }, (_, number) => `seed-${number}`).join(',');
  const resolve = async (variable: string) => {
    if (variable.startsWith('param:seeds,')) return names;
    return variable.startsWith('param:clusterAccess,') ? 'web-identity' : '';
  };
  const { resources } = await serverlessParts(resolve);
  const types = Object.values(resources.Resources).map((resource) => (resource as { Type: string }).Type);
  const definitions = await findDefinitions();
  const standardQueues = definitions.filter(({ queue }) => queue === 'standard').length;
  return {
    fifoQueues: definitions.length - standardQueues,
    standardQueues,
    alarms: types.filter((type) => type === 'AWS::CloudWatch::Alarm').length,
    secrets: 1 + seeds,
    heartbeats: 1 + seeds,
    functionMetrics: definitions.length * METRICS_OF_A_FUNCTION,
  };
}
