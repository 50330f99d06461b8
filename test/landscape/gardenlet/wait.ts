import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeClient, resources } from '../client/client.ts';
import { EXTENSION_TYPE, type Extension } from '../gardener/types.ts';
import { type NotReady, notReady } from './readiness.ts';

/** gardenlet's intervals and limits, in ms; tests shorten the first. */
export interface WaitTimes {
  /** Default 5 s. */
  pollMs: number;
  /** How long it tolerates a last error. Default 30 s: six polls. */
  severeMs: number;
  /** `reconcileTimeout` of the registration. Default 3 min. */
  reconcileMs: number;
  /** Limit of a deletion: fixed at 3 min in gardenlet. */
  fixedMs: number;
}

export const defaultWaitTimes: WaitTimes = { pollMs: 5000, severeMs: 30_000, reconcileMs: 180_000, fixedMs: 180_000 };

/** A failed step of a Shoot flow, with the error codes for the Shoot's status. */
export class FlowError extends Error {
  override name = 'FlowError';
  /** See rule 1.6. */
  readonly codes: string[];

  constructor(message: string, codes: string[] = []) {
    super(message);
    this.codes = codes;
  }
}

export type Waits = ReturnType<typeof createWaits>;

export function createWaits(seed: KubeClient, times: WaitTimes) {
  const find = (namespace: string) => seed.find<Extension>(resources.extensions, { namespace, name: EXTENSION_TYPE });

  /** @param check returns undefined when done; throws to end the wait at once */
  const poll = async (what: string, limitMs: number, check: () => Promise<NotReady | undefined>) => {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const state = await check();
      if (state === undefined) return;
      if (Date.now() >= deadline) {
        throw new FlowError(`${what} after ${limitMs / 1000} s: ${state.reason}`, state.error?.codes);
      }
      await sleep(times.pollMs);
    }
  };

  return {
    async untilReady(namespace: string, timestamp: string) {
      const tolerated = Math.max(1, Math.round(times.severeMs / times.pollMs));
      let errors = 0;
      await poll(`Extension ${namespace}/${EXTENSION_TYPE} is not ready`, times.reconcileMs, async () => {
        const extension = await find(namespace);
        if (extension === undefined) throw new FlowError(`Extension ${namespace}/${EXTENSION_TYPE} does not exist`);
        const state = notReady(extension, timestamp);
        errors = state?.error === undefined ? 0 : errors + 1;
        if (state?.error !== undefined && errors > tolerated) {
          throw new FlowError(state.error.description, state.error.codes);
        }
        return state;
      });
    },

    async untilMigrated(namespace: string) {
      await poll(`Extension ${namespace}/${EXTENSION_TYPE} is not migrated`, times.fixedMs, async () => {
        const { type, state } = (await find(namespace))?.status?.lastOperation ?? {};
        if (type === 'Migrate' && state === 'Succeeded') return undefined;
        return { reason: `last operation is ${type} ${state}` };
      });
    },

    async untilGone(namespace: string) {
      await poll(`Extension ${namespace}/${EXTENSION_TYPE} still exists`, times.fixedMs, async () => {
        const extension = await find(namespace);
        if (extension === undefined) return undefined;
        const { description, codes = [] } = extension.status?.lastError ?? {};
        return description === undefined
          ? { reason: `last operation ${extension.status?.lastOperation?.state ?? 'unknown'}` }
          : { reason: description, error: { description, codes } };
      });
    },

    /** Waits until `left` returns no names. */
    async untilNone(what: string, left: () => Promise<string[]>, limitMs = times.fixedMs) {
      await poll(`${what} are left`, limitMs, async () => {
        const names = await left();
        return names.length === 0 ? undefined : { reason: names.join(', ') };
      });
    },
  };
}
