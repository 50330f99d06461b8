import { eventually, type Stage } from '../../scenarios/stage.ts';

/** Configures a release of Flux, as a project does. */
export async function askForFlux(stage: Stage, fluxVersion: string, components?: string): Promise<void> {
  await stage.setFluxConfig({
    ...{ repositoryUrl: 'https://git.example.com/a', repositoryType: 'public', repositoryBranch: 'main' },
    ...{ syncMode: 'Reconcile', fluxVersion, ...(components !== undefined && { components }) },
  });
  await stage.reconcileShoot();
}

/** Waits until a release is installed. */
export async function untilInstalledIn(stage: Stage, version: string, seconds?: number): Promise<void> {
  await eventually(
    version,
    stage.extension,
    ({ status }) => status?.lastOperation?.state === 'Succeeded' && status.state?.applied?.fluxVersion === version,
    ({ status }) => [status?.lastOperation, status?.lastError, stage.logLines.slice(-8)],
    seconds,
  );
  await stage.untilReady(seconds);
}
