// What few runs need, in one chunk of the bundle: each chunk of its own would split the code that they share.
export { adopt } from './adopt.ts';
export { announceUpgrade } from './announce.ts';
export { settleFormerKinds } from './delete-former-kinds.ts';
export { deliverDirectly } from './deliver/directly.ts';
export { deliverRestored } from './deliver/restored.ts';
export { reportHibernated, reportObstacle, takeOver } from './endings.ts';
export { migrateStoredObjects } from './migrate.ts';
export { notifyWarnings } from './notify-warnings.ts';
export { heldBack } from './read/adoption.ts';
export { readCrdVersions, readInstalledFlux } from './read/installed-flux.ts';
export { endRollout } from './rollout/end.ts';
export { waitForTurn } from './rollout/turn.ts';
export { removeLeftProtection } from './shoot/remove-protection.ts';
export { releaseLeftovers } from './uninstall/leftovers.ts';
export { migrate, remove, yieldToShootDeletion } from './uninstall/operations.ts';
