import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeClient, resources } from '../client/client.ts';
import { EXTENSION_TYPE, type Extension } from '../gardener/types.ts';
import { type NotReady, notReady } from './readiness.ts';

/** The real one polls every 5 s. */
const POLL_MS = 100;
/** A last error is tolerated for 30 s. */
const TOLERATED_POLLS = 30_000 / POLL_MS;
/** Limit of a deletion, and by default `reconcileTimeout` of the registration. */
const LIMIT_MS = 180_000;

export type Waits = ReturnType<typeof createWaits>;

export function createWaits(seed: KubeClient, reconcileMs = LIMIT_MS) {
  const find = (namespace: string) => seed.find<Extension>(resources.extensions, { namespace, name: EXTENSION_TYPE });

  /** @param check returns undefined when done; throws to end the wait at once */
  const poll = async (what: string, limitMs: number, check: () => Promise<NotReady | undefined>) => {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const state = await check();
      if (state === undefined) return;
      if (Date.now() >= deadline) {
        throw new Error(`${what} after ${limitMs / 1000} s: ${state.reason}`);
      }
      await sleep(POLL_MS);
    }
  };

  return {
    async untilReady(namespace: string, timestamp: string) {
      let errors = 0;
      await poll(`Extension ${namespace}/${EXTENSION_TYPE} is not ready`, reconcileMs, async () => {
        const extension = await find(namespace);
        if (extension === undefined) throw new Error(`Extension ${namespace}/${EXTENSION_TYPE} does not exist`);
        const state = notReady(extension, timestamp);
        errors = state?.error === undefined ? 0 : errors + 1;
        if (state?.error !== undefined && errors > TOLERATED_POLLS) throw new Error(state.error);
        return state;
      });
    },

    async untilMigrated(namespace: string) {
      await poll(`Extension ${namespace}/${EXTENSION_TYPE} is not migrated`, LIMIT_MS, async () => {
        const { type, state } = (await find(namespace))?.status?.lastOperation ?? {};
        if (type === 'Migrate' && state === 'Succeeded') return undefined;
        return { reason: `last operation is ${type} ${state}` };
      });
    },

    async untilGone(namespace: string) {
      await poll(`Extension ${namespace}/${EXTENSION_TYPE} still exists`, LIMIT_MS, async () => {
        const extension = await find(namespace);
        if (extension === undefined) return undefined;
        const { lastError, lastOperation } = extension.status ?? {};
        return { reason: lastError?.description ?? `last operation ${lastOperation?.state ?? 'unknown'}` };
      });
    },

    /** Waits until `left` returns no names. */
    async untilNone(what: string, left: () => Promise<string[]>, limitMs = LIMIT_MS) {
      await poll(`${what} are left`, limitMs, async () => {
        const names = await left();
        return names.length === 0 ? undefined : { reason: names.join(', ') };
      });
    },
  };
}
