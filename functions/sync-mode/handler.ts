import { loadExtension } from '../../shared/gardener/gate.ts';
import { allApplied, listManagedResources } from '../../shared/gardener/managed-resource.ts';
import { seconds } from '../../shared/gardener/operation.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { firstSuccess } from './first-success.ts';

/** Writes `state.bootstrapped` once, and only to the version of the Extension that was read. */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  const loaded = await loadExtension(seed, key, (candidate) => firstSuccess(candidate) !== undefined);
  if (loaded.state !== 'open' || loaded.operation === 'Delete' || loaded.operation === 'Migrate') return done;
  const { extension } = loaded;
  const success = firstSuccess(extension);
  const applied = extension.status?.state?.applied;
  if (success === undefined || applied === undefined) return done;
  if (success.at === undefined && !allApplied(applied, await listManagedResources(seed, key.namespace))) return done;
  const { fluxVersion, configHash } = applied;
  const bootstrapped = { at: success.at ?? seconds(context.now().getTime()), fluxVersion, configHash };
  const { resourceVersion } = extension.metadata;
  await seed.mergePatch(
    resources.extensions,
    key,
    { metadata: { resourceVersion }, status: { state: { bootstrapped } } },
    { fieldManager: 'shoot-flux-sync-mode', subresource: 'status' },
  );
  context.log.info('first success recorded', { configHash });
  return done;
};
