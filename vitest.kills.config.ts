import { defineConfig } from 'vitest/config';

/** The kill suites in every state rather than in a sample: `npm run test:kills`. */
export default defineConfig({
  test: {
    include: [
      'test/integration/{kill,kill-direct,kill-upgrade,kill-adoption,kill-removed-components,kill-rollout,matrix,concurrency}.test.ts',
    ],
    env: { SHOOT_FLUX_KILLS: process.env.SHOOT_FLUX_KILLS || 'states' },
    // They end what hangs. How long something takes depends on the machine, so no test asks for it.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 2,
  },
});
