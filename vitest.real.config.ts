import { defineConfig } from 'vitest/config';

/** The suites that run against real kube-apiservers, Flux releases and Flux controllers: `npm run test:real`. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: ['test/real/setup.ts'],
    testTimeout: 300_000,
    // A first build takes minutes.
    hookTimeout: 600_000,
    // A second, the default, is not enough on a machine that is busy.
    expect: { poll: { timeout: 15_000 } },
    maxWorkers: 1,
    fileParallelism: false,
  },
});
