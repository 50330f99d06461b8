import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { SUSPENDED } from '../../shared/config/project-config.ts';
import type { Resource } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import { asleep, publicRepository, type Stage } from './stage.ts';

const config = { ...publicRepository, syncMode: 'Reconcile' };
/** Annotations of `flux-config` in a project that is suspended. */
export const suspended = { [SUSPENDED]: '{"by":"mia","since":"2026-01-02T03:04:05Z","reason":"leaked key"}' };
export const resumed = { [SUSPENDED]: null as unknown as string };
export const who = 'by mia since 2026-01-02T03:04:05Z: leaked key';
export const both: [Resource, string][] = [
  [gitRepositories, 'main-gitrepo'],
  [kustomizations, 'main-ks'],
];

/** Waits until source and root Kustomization are suspended, or are not. */
export async function untilSuspended(stage: Stage, isIt: boolean) {
  for (const [kind, name] of both)
    await stage.untilInShoot(
      kind,
      name,
      (live) => (live?.spec as { suspend?: boolean })?.suspend === (isIt || undefined),
    );
}

/** What else a suspension meets; the way through it is in the main job. */
export const suspensionSuite = stageSuite((stage) => {
  it('suspends also where the configuration cannot be applied, or a rollout has not reached the Shoot', async () => {
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
