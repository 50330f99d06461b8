import { standInDistribution } from '@shoot-flux/landscape/distribution';
import type { Context, Settings } from '../../shared/runtime/context.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';

/** Settings of the product in tests, with the stand-in distribution. */
export const settingsOf = (parts: Partial<Settings> = {}): Settings => ({
  ...{ version: '0.1.0', landscape: 'test', seeds: ['local'], fluxDistribution: standInDistribution.folder },
  ...{ shootHealth: false, shootAccess: 'external' },
  ...parts,
});

/** The context of a run that a test starts. */
export const contextOf = (parts: Pick<Context, 'kube'> & Partial<Context>): Context => ({
  settings: settingsOf(),
  send: async () => {},
  causes: [],
  now: () => new Date(),
  log: createLog('error'),
  metrics: noMetrics,
  signal: AbortSignal.timeout(60_000),
  ...parts,
});
