import type { Landscape } from './assumptions.ts';
import { awsItems, type Stack } from './aws.ts';
import { deploymentPods, knativePods, type Pods, watcherPods } from './clusters.ts';
import { type Model, model } from './model.ts';
import { costOf, type Item } from './prices.ts';

/** What a way of running costs in a month. */
export interface Bill {
  pods: Pods;
  items: Item[];
  usdPerMonth: number;
}

export type Way = 'deployment' | 'aws' | 'knative';

/** Returns the bill of a landscape for each way. */
export function billsOf(landscape: Landscape, stack: Stack, given: Model = model): Record<Way, Bill> {
  const bill = (pods: Pods, what: string, others: Item[] = []): Bill => {
    const items = [{ what, usdPerMonth: costOfPods(pods, given) }, ...others];
    return { pods, items, usdPerMonth: items.reduce((sum, { usdPerMonth }) => sum + usdPerMonth, 0) };
  };
  return {
    deployment: bill(deploymentPods(landscape, given), 'Pods'),
    aws: bill(watcherPods(landscape, given), 'Pods of the watchers', awsItems(landscape, stack, given)),
    knative: bill(knativePods(landscape, given), 'Pods of bridge and functions'),
  };
}

function costOfPods({ vcpus, memoryGb }: Pods, { assumptions: { hoursPerMonth }, prices }: Model): number {
  return hoursPerMonth * (costOf(prices.vcpuHour, vcpus) + costOf(prices.memoryGbHour, memoryGb));
}
