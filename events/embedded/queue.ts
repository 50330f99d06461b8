/** SQS's wire protocol served by this process. */
export interface EmbeddedQueue {
  /** For example `http://127.0.0.1:40123`. */
  endpoint: string;
  stop(): Promise<void>;
}

/** Starts SQS in memory, reachable from this machine only. */
export async function startEmbeddedQueue(port = 0): Promise<EmbeddedQueue> {
  // Only a process that embeds the queue pays for loading it; its own start function would listen on all addresses.
  const { buildApp } = await import('fauxqs');
  const app = buildApp({ logger: false });
  const endpoint = await app.listen({ port, host: '127.0.0.1' });
  return { endpoint, stop: () => app.close() };
}
