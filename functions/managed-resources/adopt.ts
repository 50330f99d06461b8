import { managedResourceNames as names } from '../../shared/gardener/managed-resource.ts';
import { withShoot } from '../../shared/gardener/shoot-client.ts';
import { type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { objectRef } from './objects.ts';
import type { Plan } from './plan/plan.ts';
import { namespaceRef } from './plan/protection.ts';
import type { Run } from './run.ts';
import { adoptObjects } from './shoot/adopt.ts';

/**
 * Takes over a Flux that others have installed, where the configuration asks for it (decision 60).
 * @returns undefined when the plan can be delivered
 */
export async function adopt(run: Run, { contents, record }: Plan): Promise<Outcome | undefined> {
  const installed = [names.crds, names.controllers].flatMap((name) => contents.get(name) ?? []);
  const refs = new Set([namespaceRef(record), ...installed.map(objectRef)]);
  // Recorded before the first write, so that whatever ends the adoption can remove the protection again.
  const recorded = { upgradingTo: record.fluxVersion, adopting: [...refs] };
  await run.reporter.processing('Taking over the Flux in the shoot.', recorded);
  await run.reporter.accept();
  const isDone = await withShoot(run, (shoot) => adoptObjects(shoot, [...refs], run.isTimeUp));
  return isDone === true ? undefined : requeueAfter(1);
}
