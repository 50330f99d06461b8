import { isDeepStrictEqual } from 'node:util';
import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { KEPT } from '../../../functions/managed-resources/rollout/rollout.ts';
import { readState } from '../../../shared/gardener/rollout.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { stageSuite } from '../around-each-test.ts';
import {
  branchOf,
  eventually,
  inControlPlane,
  inProject,
  onlyFlux,
  publicRepository,
  reference,
  type ShootParts,
} from '../stage.ts';

const status = inProject('flux-status');
const config = (repositoryBranch: string, rollout = '{ maxInProgress: 1 }') => ({
  ...{ ...publicRepository, syncMode: 'Reconcile', repositoryBranch, rollout },
});
const dataOf = (object: KubeObject | undefined) => (object?.data ?? {}) as Record<string, string>;

/** A rollout in the product, with its watches and its queue, on embedded or real API servers. */
export const rolloutSuite = stageSuite((stage) => {
  it('a Shoot takes its place before it follows an edit, also where flux-status is gone', async () => {
    await stage.setFluxConfig(config('first'));
    await stage.deliver();
    await stage.bootstrap();
    // A late run of project-status may create flux-status first.
    let creators: (string | undefined)[] = [];
    for (let edit = 1; edit <= 5 && !creators.includes('shoot-flux-managed-resources'); edit++) {
      await stage.garden.delete(resources.configMaps, status);
      creators = appliersOf(await followed(`edit-${edit}`));
    }
    expect(creators).toContain('shoot-flux-managed-resources');
    // This edit finds the place of the one before.
    await followed('last');
  });

  /** Edits the branch, and returns flux-status once the shoot has it. */
  async function followed(branch: string): Promise<KubeObject> {
    await stage.setFluxConfig(config(branch));
    await stage.untilBranch(branch);
    const live = await stage.garden.find(resources.configMaps, status);
    const { revision } = (await stage.extension()).status?.state?.applied ?? {};
    expect(readState(dataOf(live).RolloutState)).toMatchObject({ revision });
    expect(dataOf(live).Rollout).toContain(`Revision ${revision} `);
    return live as KubeObject;
  }
});

/** Who has created or completed an object by an apply. */
function appliersOf({ metadata }: KubeObject): (string | undefined)[] {
  const { managedFields = [] } = metadata as { managedFields?: { manager?: string; operation?: string }[] };
  return managedFields.filter(({ operation }) => operation === 'Apply').map(({ manager }) => manager);
}

/** A time of the day as Gardener writes it. */
const inHours = (hours: number) =>
  `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 19).replaceAll(':', '')}+0000`;

/** A Shoot with a resource of its own, whose maintenance window is open or begins in hours. */
const shootWith = (isOpen: boolean, version: string): ShootParts => ({
  spec: {
    kubernetes: { version },
    resources: [reference('creds', 'my-creds')],
    maintenance: {
      timeWindow: isOpen ? { begin: inHours(-1), end: inHours(1) } : { begin: inHours(6), end: inHours(7) },
    },
  },
  providerConfig: onlyFlux({ additionalSecretResources: [{ name: 'creds' }] }),
});

/** What reaches a Shoot that waits for its turn, on embedded or real API servers. */
export const waitingSuite = stageSuite((stage) => {
  const valueIn = async (object: string, key: string) => {
    const value = dataOf(await stage.inShoot(resources.secrets, object))[key] ?? '';
    return Buffer.from(value, 'base64').toString();
  };
  /** What the shoot has: the branch, both Secrets, and the fact about Kubernetes. */
  const seen = async () => {
    const facts = dataOf(await stage.inShoot(resources.configMaps, 'shoot-facts'));
    return {
      branch: branchOf(await stage.inShoot(gitRepositories, 'main-gitrepo')),
      ofProject: await valueIn('flux-variables', 'region'),
      ofShoot: await valueIn('my-creds', 'key'),
      kubernetes: Object.values(facts).filter((value) => /^1\.3\d\.\d$/.test(value)),
    };
  };

  it('rotated Secrets of the project arrive, and everything else waits with the edit', async () => {
    const inWindow = '{ maxInProgress: 1, maintenanceWindow: true }';
    await stage.putSecret('garden', inProject('flux-variables'), { region: 'north' });
    await stage.putSecret('seed', inControlPlane('ref-my-creds'), { key: 'first' });
    await stage.setFluxConfig(config('one', inWindow));
    await stage.deliver(shootWith(false, '1.34.2'));
    await stage.bootstrap();
    const before = { branch: 'one', ofProject: 'north', ofShoot: 'first', kubernetes: ['1.34.2'] };
    expect(await seen()).toEqual(before);

    await stage.setFluxConfig(config('two', inWindow));
    await eventually(
      'the wait',
      () => stage.garden.find(resources.configMaps, status),
      (map) => readState(dataOf(map).RolloutState)?.waiting.has('bar') === true,
    );
    await stage.putSecret('garden', inProject('flux-variables'), { region: 'south' });
    await stage.putSecret('seed', inControlPlane('ref-my-creds'), { key: 'second' });
    await eventually('the rotation', seen, ({ ofProject }) => ofProject === 'south');
    // gardenlet upgrades Kubernetes, and gets its answer at once.
    await stage.reconcileShoot(shootWith(false, '1.35.1'));
    const { status: answered } = await stage.untilDescribed(KEPT);
    expect(answered?.lastOperation).toMatchObject({ type: 'Reconcile', state: 'Succeeded', description: KEPT });
    expect(await seen()).toEqual({ ...before, ofProject: 'south' });

    await stage.reconcileShoot(shootWith(true, '1.35.1'));
    const after = { branch: 'two', ofProject: 'south', ofShoot: 'second', kubernetes: ['1.35.1'] };
    await eventually('its turn', seen, (live) => isDeepStrictEqual(live, after));
  });
});
