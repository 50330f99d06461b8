// An SQS for tests: fauxqs speaks SQS's protocol in this process.
import { type BridgeOptions, openSqsBridge, type SqsBridge } from './bridge.ts';

/** SQS's wire protocol, served by this process. */
export interface Emulator {
  /** For example `http://127.0.0.1:40123`. */
  endpoint: string;
  stop(): Promise<void>;
}

/** Starts SQS in memory, reachable from this machine only. */
export async function startEmulator(port = 0): Promise<Emulator> {
  // Its own start function would listen on all addresses.
  const { buildApp } = await import('fauxqs');
  const app = buildApp({ logger: false });
  const endpoint = await app.listen({ port, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}

/** Opens a bridge on an emulator of its own, which ends with it. */
export async function openEmulatedBridge(options: Omit<BridgeOptions, 'endpoint'>): Promise<SqsBridge> {
  const emulator = await startEmulator();
  const bridge = await openSqsBridge({ ...options, endpoint: emulator.endpoint });
  return {
    ...bridge,
    async stop() {
      await bridge.stop();
      await emulator.stop();
    },
  };
}
