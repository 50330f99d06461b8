import { canonicalJson } from '../../../shared/config/hash.ts';
import { RETRYABLE_CONFIGURATION_PROBLEM } from '../../../shared/gardener/error-codes.ts';
import { managedResourceNames as names } from '../../../shared/gardener/managed-resource.ts';
import { isNewlyAsked } from '../../../shared/gardener/operation.ts';
import { withShoot } from '../../../shared/gardener/shoot-client.ts';
import type { Applied, ManagedResource } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isRefused, KubeError, NotFoundError } from '../../../shared/kube/errors.ts';
import { refusalIn } from '../../../shared/kube/refusal.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { done, type Outcome, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { kindsOf } from '../kinds.ts';
import { explainRefused } from '../progress/explain.ts';
import { PATIENCE_SECONDS } from '../progress/judge.ts';
import { type DesiredState, secondsUnderWay } from '../progress/settle.ts';
import { waitFor } from '../progress/waiting.ts';
import { readSecretNames } from '../read.ts';
import type { Run } from '../run.ts';
import { release } from '../write.ts';
import { applyObjects, inOrder, prune, stillLeaving, suspendLeaving } from './apply.ts';
import { directPlan, recordAfter } from './direct-plan.ts';

/**
 * The last step where the resource-manager may not write into Flux's namespace: the same objects, applied to the shoot
 * by us. Every run applies all of them, which corrects drift and writes nothing where there is none.
 */
export async function settleDirectly(
  run: Run,
  wanted: DesiredState,
  live: Map<string, ManagedResource>,
): Promise<Outcome> {
  const { reporter } = run;
  const previous = run.extension.status?.state?.applied;
  const { before, arrived, leaving } = directPlan(wanted, previous);
  const begin = async () => {
    await reporter.processing(description(wanted), { applied: before });
    await reporter.accept();
  };
  if (live.size > 0) {
    await begin();
    return handOver(run, live);
  }
  const outcome = await withShoot(run, async (shoot) => {
    const progress: Progress = { delivered: { ...before.delivered }, arrived };
    try {
      const held = await stillLeaving(shoot, wanted.contents.get(names.sync) ?? [], kindsOf(wanted.release));
      const isDelivered = canonicalJson(previous?.delivered) === canonicalJson(wanted.applied.managedResources);
      if (held !== undefined) await reporter.record(before);
      else if (!isDelivered || isNewlyAsked(run.extension)) await begin();
      if (!(await deliver(run, shoot, held === undefined ? wanted : withoutSync(wanted), progress))) {
        await reporter.record({ ...before, ...progress });
        return requeueAfter(1);
      }
      if (held !== undefined) return await waitFor(run, isGoing(held));
      return await conclude(run, wanted, await pruneLeaving(shoot, wanted, leaving));
    } catch (error) {
      return refused(run, error, { ...before, delivered: progress.delivered, arrived: undefined });
    }
  });
  return outcome ?? waitFor(run, 'The control plane holds no kubeconfig for the shoot yet.');
}

function description({ applied }: DesiredState): string {
  return `Applying Flux ${applied.fluxVersion} and its configuration to the shoot.`;
}

/** For Flux to let go of something its controllers have to be there. */
function withoutSync(wanted: DesiredState): DesiredState {
  const others = [...wanted.contents].filter(([name]) => name !== names.sync);
  return { ...wanted, contents: new Map(others) };
}

function isGoing({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} ${namespace}/${name} is being deleted in the shoot and is made anew when Flux has let it go; should that not end, see whether the controllers of Flux run.`;
}

/** Two may not write the same objects: what the resource-manager has it lets go first, and we adopt it. */
async function handOver(run: Run, live: Map<string, ManagedResource>): Promise<Outcome> {
  for (const resource of live.values()) await release(run.seed, resource);
  return requeueAfter(2);
}

/** How far a delivery has come. */
interface Progress {
  /** The name of each content that has arrived. */
  delivered: Record<string, string>;
  /** Objects that have been applied since it began, also in former runs. */
  arrived: number;
}

/** False when the time was up before all was applied: `progress` says where to go on. */
async function deliver(
  { isTimeUp }: Run,
  shoot: KubeClient,
  { release, contents, applied }: DesiredState,
  progress: Progress,
): Promise<boolean> {
  const kinds = kindsOf(release);
  const { arrived } = progress;
  let former = 0;
  for (const [name, objects] of contents) {
    const rest = inOrder(objects).slice(Math.max(0, progress.arrived - former));
    if (rest.length > 0 && progress.arrived > arrived && isTimeUp()) return false;
    const count = await applyObjects(shoot, rest, kinds, isTimeUp);
    progress.arrived += count;
    if (count < rest.length) return false;
    former += objects.length;
    progress.delivered[name] = applied.managedResources[name] ?? '';
  }
  return true;
}

/**
 * Only now all kinds are served as this release has them: what cannot be asked for must not count as gone.
 * @returns refs of what is leaving and still there
 */
async function pruneLeaving(shoot: KubeClient, { release }: DesiredState, leaving: string[]): Promise<string[]> {
  const kinds = kindsOf(release);
  await suspendLeaving(shoot, leaving, kinds);
  return prune(shoot, leaving, kinds);
}

async function conclude(run: Run, wanted: DesiredState, remaining: string[]): Promise<Outcome> {
  const { reporter, seed, namespace } = run;
  const applied = recordAfter(wanted, run.extension.status?.state?.applied, remaining);
  await reporter.accept();
  for (const name of await readSecretNames(seed, namespace)) await seed.delete(resources.secrets, { namespace, name });
  const { references } = wanted;
  await reporter.succeeded(`Flux ${applied.fluxVersion} and its configuration are applied.`, { applied, references });
  await reporter.finish();
  return remaining.length > 0 ? requeueAfter(5) : done;
}

/**
 * What the shoot does not take is told. A kind that is not served is normal for a moment after its CRD was written, and
 * so is a namespace that still goes after an extension was removed and comes back.
 * @param applied what has arrived until then is on record too
 * @throws everything else, which is tried again
 */
async function refused(run: Run, error: unknown, applied: Applied): Promise<Outcome> {
  if (!(error instanceof KubeError)) throw error;
  const { message } = error;
  const isMissing = error instanceof NotFoundError;
  const mayPass = isMissing || refusalIn(message)?.kind === 'terminating';
  if (mayPass && secondsUnderWay(run) < PATIENCE_SECONDS) return requeueAfter(2);
  if (!isMissing && !isRefused(error)) throw error;
  await run.reporter.failed(explainRefused(message), [RETRYABLE_CONFIGURATION_PROBLEM], { applied });
  return requeueAfter(60);
}
