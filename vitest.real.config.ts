import { defineConfig } from 'vitest/config';

/** The suites that run against real kube-apiservers, Flux releases and Flux controllers: `npm run test:real`. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: ['test/real/setup.ts'],
    // They end what hangs. How long something takes depends on the machine, so no test asks for it.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 1,
    fileParallelism: false,
  },
});
