import { defineConfig } from 'vitest/config';

/** The suites that run against real kube-apiservers, Flux releases and Flux controllers: `npm run test:real`. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: ['test/real/setup.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
    fileParallelism: false,
  },
});
