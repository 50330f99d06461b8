import type { SyncMode } from '../../../shared/config/effective.ts';
import type { Life } from './lives.ts';
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
  publicRepository,
  reconcile,
  restore,
  type Step,
} from './steps.ts';

const modes: SyncMode[] = ['Once', 'ManifestsOnly', 'Reconcile'];

/** What may happen to a Shoot with the extension, in each mode: after what, and what. */
const events: Record<string, (mode: SyncMode) => Omit<Life, 'name'>> = {
  create: (mode) => ({ before: [], during: [create(of(mode)), fluxWorks] }),
  hibernate: (mode) => ({ before: living(mode), during: [reconcile(asleep)] }),
  wake: (mode) => ({ before: [...living(mode), reconcile(asleep)], during: [reconcile()] }),
  'config change': (mode) => ({ before: living(mode), during: [config({ ...of(mode), ...otherBranch })] }),
  'mode change': (mode) => ({ before: living(mode), during: [config(of(after(mode)))] }),
  'extension removed': (mode) => ({
    before: living(mode),
    during: [deleteExtension],
    removes: mode === 'Reconcile',
  }),
  're-added': (mode) => ({ before: [...living(mode), deleteExtension], during: [reconcile()] }),
  'Shoot deleted': (mode) => ({ before: living(mode), during: [deletedShoot, deleteExtension] }),
  migrated: (mode) => ({ before: living(mode), during: [migrate, leave, createWaiting, restore] }),
  'force-deleted': (mode) => ({ before: living(mode), during: [both(forceDeletedShoot, deleteExtension)] }),
};

/** A Shoot's life: every event in every mode. */
export const matrix: Life[] = Object.entries(events).flatMap(([name, event]) =>
  modes.map((mode) => ({ name: `${name}, mode ${mode}`, ...event(mode) })),
);

function of(syncMode: SyncMode): Record<string, string> {
  return { ...publicRepository, syncMode };
}

function after(mode: SyncMode): SyncMode {
  return modes[(modes.indexOf(mode) + 1) % modes.length] ?? 'Once';
}

/** Flux has come up, and has deployed something. */
function living(mode: SyncMode): Step[] {
  return [both(create(of(mode)), fluxWorks), deployed];
}
