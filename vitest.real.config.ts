import { defineConfig } from 'vitest/config';
import { timeLimits } from './test/time-limits.ts';

/** The suites that run against real kube-apiservers, Flux releases and Flux controllers: `npm run test:real`. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: ['test/temporary-folder.ts', 'test/real/setup.ts'],
    ...timeLimits,
    // Each suite mostly waits for programs of its own: with three at a time, a third of two cores was idle.
    maxWorkers: 5,
  },
});
