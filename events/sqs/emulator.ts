/** SQS's wire protocol, served by this process. */
export interface Emulator {
  /** For example `http://127.0.0.1:40123`. */
  endpoint: string;
  stop(): Promise<void>;
}

/** Starts SQS in memory, reachable from this machine only. */
export async function startEmulator(port = 0): Promise<Emulator> {
  // Loaded on demand; its own start function would listen on all addresses.
  const { buildApp } = await import('fauxqs');
  const app = buildApp({ logger: false });
  const endpoint = await app.listen({ port, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}
