import type { Landscape } from './assumptions.ts';
import { MEASURED_SHOOTS } from './inputs.ts';
import type { Model } from './model.ts';
import { workPerHour } from './work.ts';

/** What Pods take from clusters, on average. */
export interface Pods {
  /** Pods that run at a time. */
  pods: number;
  vcpus: number;
  memoryGb: number;
}

/** The larger one of what a Pod reserves and what it uses counts: that is what the cluster needs for it. */
function pods(
  count: number,
  reserved: { cpu: number; memoryMb: number },
  use: { cpu: number; memoryMb: number },
): Pods {
  return {
    pods: count,
    vcpus: count * Math.max(reserved.cpu, use.cpu),
    memoryGb: (count * Math.max(reserved.memoryMb, use.memoryMb)) / 1000,
  };
}

/** Returns the Pods of one Deployment per seed. Memory and CPU grow with the Shoots of a seed, between measured points. */
export function deploymentPods({ shoots, seeds, followed }: Landscape, { usage, reserved }: Model): Pods {
  const part = shoots / seeds / MEASURED_SHOOTS;
  const percent = followed * usage.followedCpu.value + (1 - followed) * usage.releasedCpu.value;
  const memoryMb = usage.runIdleMb.value + (usage.runFullMb.value - usage.runIdleMb.value) * part;
  return pods(seeds, reserved.deployment, { cpu: (percent / 100) * part, memoryMb });
}

/** Returns the Pods of watchers alone, one in each seed. */
export function watcherPods({ seeds }: Landscape, { usage, reserved }: Model): Pods {
  return pods(seeds, reserved.deployment, { cpu: 0, memoryMb: usage.watchMb.value });
}

/**
 * Returns the Pods on Knative: bridges, and instances of the two functions that look at Shoots at rest. An instance is
 * there while an event has come in the last seconds.
 */
export function knativePods(landscape: Landscape, { activities, assumptions, usage, reserved }: Model): Pods {
  const bridges = Math.ceil(landscape.shoots / assumptions.shootsPerBridge);
  const bridge = pods(bridges, reserved.bridge, { cpu: 0, memoryMb: usage.watchMb.value });
  const work = workPerHour(landscape, activities, assumptions);
  const each = work.events / bridges / 3600;
  const busy = 1 - Math.exp(-each * assumptions.knativeIdleSeconds);
  const instances = pods(KNATIVE_AT_WORK * bridges * busy, reserved.service, {
    cpu: (each * usage.warmCpuMs.value) / 1000 / busy / KNATIVE_AT_WORK,
    memoryMb: 0,
  });
  return {
    pods: bridge.pods + instances.pods,
    vcpus: bridge.vcpus + instances.vcpus,
    memoryGb: bridge.memoryGb + instances.memoryGb,
  };
}

/** `managed-resources` and `readiness`; the others have events only after an edit or for a new Shoot. */
const KNATIVE_AT_WORK = 2;
