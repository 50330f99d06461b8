import { loadExtension } from '../../shared/gardener/gate.ts';
import { allApplied, listManagedResources } from '../../shared/gardener/managed-resource.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { bootstrapRecord, decideFromExtension } from './first-success.ts';

/** Writes `state.bootstrapped` once, and only to the version of the Extension that was read. */
export const handler: Handler = async (key, context) => {
  const seed = await context.kube(key.cluster);
  const loaded = await loadExtension(
    seed,
    key,
    (candidate) => decideFromExtension(candidate).type !== 'nothing to record',
  );
  if (loaded.state !== 'open' || loaded.operation === 'Delete' || loaded.operation === 'Migrate') return done;
  const { extension } = loaded;
  const decision = decideFromExtension(extension);
  const applied = extension.status?.state?.applied;
  if (decision.type === 'nothing to record' || applied === undefined) return done;
  if (decision.type === 'check ManagedResources') {
    if (!allApplied(applied, await listManagedResources(seed, key.namespace))) return done;
  }
  const bootstrapped = bootstrapRecord(applied, decision.type === 'record' ? decision.at : context.now());
  const { resourceVersion } = extension.metadata;
  await seed.mergePatch(
    resources.extensions,
    key,
    { metadata: { resourceVersion }, status: { state: { bootstrapped } } },
    { fieldManager: 'shoot-flux-sync-mode', subresource: 'status' },
  );
  context.log.info('first success recorded', { configHash: bootstrapped.configHash });
  return done;
};
