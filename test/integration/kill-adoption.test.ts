import { expect, it } from 'vitest';
import { describeKilled } from '../scenarios/killed.ts';
import { adoptions } from '../scenarios/world/adoptions.ts';
import { type FunctionRequest, killPerRequest } from '../scenarios/world/kills.ts';
import { runWithKills } from '../scenarios/world/run-lifecycle.ts';
import { deleteExtension, reconcile, template } from '../scenarios/world/steps.ts';
import { FORMER_RELEASE, twoReleases } from '../scenarios/world/two-releases.ts';

const distribution = await twoReleases();
const lifecycles = await adoptions(distribution, FORMER_RELEASE);
const afterEveryWrite = true;

describeKilled('adoption', lifecycles, ['process'], { distribution, afterEveryWrite });
describeKilled('adoption, others work meanwhile', lifecycles.slice(0, 1), ['outage'], { distribution });

it('an Extension that is deleted during an adoption leaves nothing protected', async () => {
  const [taken] = lifecycles;
  if (taken === undefined) throw new Error('no lifecycle');
  const adopted = reconcile({ providerConfig: { ...template('main'), adopt: true, deletionPolicy: 'Orphan' } });
  const lifecycle = { ...taken, steps: [adopted, deleteExtension], unprotects: true };
  const choose = (requests: FunctionRequest[]) => {
    // A sample: each write to the shoot is another object that is protected already.
    const all = killPerRequest(requests, 'missed');
    return all.filter((_, index) => index % 9 === 0);
  };
  const { deviations, kills } = await runWithKills(lifecycle, choose, { distribution });
  expect(kills).toBeGreaterThan(4);
  // What is adopted by then differs, but not what the Extension leaves behind.
  expect(deviations.filter((text) => text.includes('stays protected'))).toEqual([]);
});
