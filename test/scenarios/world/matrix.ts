import type { SyncMode } from '../../../shared/config/types.ts';
import { publicRepository } from '../stage.ts';
import type { Lifecycle } from './lifecycles.ts';
import {
  asleep,
  both,
  config,
  create,
  createWaiting,
  deletedShoot,
  deleteExtension,
  deployed,
  fluxWorks,
  forceDeletedShoot,
  leave,
  migrate,
  otherBranch,
  reconcile,
  restore,
  type Step,
} from './steps.ts';

const modes: SyncMode[] = ['Once', 'ManifestsOnly', 'Reconcile'];

/** The events that a Shoot with the extension goes through, as a function of the sync mode. */
const events: Record<string, (mode: SyncMode) => Omit<Lifecycle, 'name'>> = {
  create: (mode) => ({ setup: [], steps: [create(of(mode)), fluxWorks] }),
  hibernate: (mode) => ({ setup: running(mode), steps: [reconcile(asleep)] }),
  wake: (mode) => ({ setup: [...running(mode), reconcile(asleep)], steps: [reconcile()] }),
  'config change': (mode) => ({ setup: running(mode), steps: [config({ ...of(mode), ...otherBranch })] }),
  'mode change': (mode) => ({ setup: running(mode), steps: [config(of(after(mode)))] }),
  'extension removed': (mode) => ({
    setup: running(mode),
    steps: [deleteExtension],
    removes: mode === 'Reconcile',
  }),
  're-added': (mode) => ({ setup: [...running(mode), deleteExtension], steps: [reconcile()] }),
  'Shoot deleted': (mode) => ({ setup: running(mode), steps: [deletedShoot, deleteExtension] }),
  migrated: (mode) => ({ setup: running(mode), steps: [migrate, leave, createWaiting, restore] }),
  'force-deleted': (mode) => ({ setup: running(mode), steps: [both(forceDeletedShoot, deleteExtension)] }),
};

/** The lifecycles: every event in every mode. */
export const matrix: Lifecycle[] = Object.entries(events).flatMap(([name, event]) =>
  modes.map((mode) => ({ name: `${name}, mode ${mode}`, ...event(mode) })),
);

function of(syncMode: SyncMode): Record<string, string> {
  return { ...publicRepository, syncMode };
}

function after(mode: SyncMode): SyncMode {
  return modes[(modes.indexOf(mode) + 1) % modes.length] ?? 'Once';
}

/** Flux runs and has deployed a workload. */
function running(mode: SyncMode): Step[] {
  return [both(create(of(mode)), fluxWorks), deployed];
}
