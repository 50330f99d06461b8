import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { SUSPENDED } from '../../shared/config/project-config.ts';
import { resources } from '../../shared/kube/resource.ts';
import { textAt } from '../../shared/shapes.ts';
import { stageSuite } from './around-each-test.ts';
import { asleep, eventually, inProject, publicRepository, type Stage } from './stage.ts';

const config = { ...publicRepository, syncMode: 'Reconcile' };
const suspended = { [SUSPENDED]: '{"by":"mia","since":"2026-01-02T03:04:05Z","reason":"leaked key"}' };
const resumed = { [SUSPENDED]: null as unknown as string };
const who = 'by mia since 2026-01-02T03:04:05Z: leaked key';
const both = [
  [gitRepositories, 'main-gitrepo'],
  [kustomizations, 'main-ks'],
] as const;

const shownIn = async (stage: Stage) =>
  textAt(await stage.garden.find(resources.configMaps, inProject('flux-status')), 'data', 'Suspended');

async function untilSuspended(stage: Stage, isIt: boolean) {
  for (const [kind, name] of both)
    await stage.untilInShoot(
      kind,
      name,
      (live) => (live?.spec as { suspend?: boolean })?.suspend === (isIt || undefined),
    );
}

/** A project that is suspended and resumed, on embedded or real API servers. */
export const suspensionSuite = stageSuite((stage) => {
  it('suspends source and Kustomization, says who and why, and resumes both', async () => {
    await stage.setFluxConfig(config);
    await stage.deliver();
    await stage.bootstrap();
    await stage.annotateFluxConfig(suspended);
    await untilSuspended(stage, true);
    const sentence = `Suspended ${who}; shoot-flux resume takes it back.`;
    expect(await stage.untilCondition('KustomizationReady', sentence)).toMatchObject({ status: 'True' });
    expect(await stage.untilCondition('SourceReady', sentence)).toMatchObject({ reason: 'Suspended' });
    expect(
      await eventually(
        'flux-status',
        () => shownIn(stage),
        (text) => text !== undefined,
      ),
    ).toBe(who);
    await stage.annotateFluxConfig(resumed);
    await untilSuspended(stage, false);
    await stage.markReady(...both.map(([kind, name]): [typeof kind, string] => [kind, name]));
    await stage.untilCondition('KustomizationReady', 'is Ready');
    await eventually(
      'flux-status',
      () => shownIn(stage),
      (text) => text === undefined,
    );
    expect((await stage.extension()).status?.state?.applied).not.toHaveProperty('suspension');
  });

  it('also where the configuration cannot be applied, or a rollout has not reached the Shoot', async () => {
    await stage.setFluxConfig({ ...config, rollout: '{ maxInProgress: 1 }' });
    await stage.deliver();
    await stage.bootstrap();
    await stage.setFluxConfig({ ...config, repositoryUrl: 'no URL' });
    await stage.untilError('repositoryUrl');
    await stage.annotateFluxConfig(suspended);
    await untilSuspended(stage, true);
    await stage.setFluxConfig({ ...config, rollout: '{ maxInProgress: 1 }', repositoryBranch: 'next' });
    await stage.untilDescribed('The last applied configuration is kept');
    expect(await stage.specInShoot(gitRepositories, 'main-gitrepo')).toMatchObject({ ref: { branch: 'main' } });
    await stage.annotateFluxConfig(resumed);
    await stage.untilBranch('next');
    await untilSuspended(stage, false);
  });

  it('a new Shoot comes up suspended, and no mode releases it so', async () => {
    await stage.setFluxConfig({ ...config, syncMode: 'Once' });
    await stage.annotateFluxConfig(suspended);
    await stage.deliver();
    await untilSuspended(stage, true);
    await stage.untilCondition('KustomizationReady', who);
    await stage.quiet();
    expect((await stage.extension()).status?.state).not.toHaveProperty('bootstrapped');
    await stage.annotateFluxConfig(resumed);
    await untilSuspended(stage, false);
    await stage.bootstrap();
    await stage.untilManagedResources('shoot-flux-secrets');
    await stage.annotateFluxConfig(suspended);
    await stage.quiet();
    await untilSuspended(stage, false);
  });

  it('keeps what flux-config suspends itself, and hinders neither hibernation nor removal', async () => {
    await stage.setFluxConfig({ ...config, deletionPolicy: 'Uninstall' });
    await stage.deliver();
    await stage.bootstrap();
    await stage.setFluxConfig({ ...config, suspend: 'true', deletionPolicy: 'Uninstall' });
    await untilSuspended(stage, true);
    await stage.annotateFluxConfig(suspended);
    await stage.untilCondition('KustomizationReady', 'set suspend in ConfigMap flux-config to false');
    await stage.annotateFluxConfig(resumed);
    await stage.quiet();
    await untilSuspended(stage, true);
    await stage.annotateFluxConfig(suspended);
    await stage.setFluxConfig({ ...config, deletionPolicy: 'Uninstall' });
    await stage.untilCondition('KustomizationReady', who);
    await stage.deliver(asleep);
    await stage.deliver();
    await untilSuspended(stage, true);
    await stage.setFluxConfig(undefined);
    await stage.untilCondition('ConfigurationFollowed', 'ConfigMap flux-config was deleted');
    await untilSuspended(stage, true);
    await stage.leave();
    expect(await stage.managedResources()).toEqual({});
  });
});
