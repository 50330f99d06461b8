import { defineConfig } from 'vitest/config';
import { timeLimits } from './test/time-limits.ts';

/** The kill suites in every state rather than in a sample: `npm run test:kills`. */
export default defineConfig({
  test: {
    globalSetup: ['test/temporary-folder.ts'],
    include: ['test/integration/{kill,kill-*,matrix,concurrency}.test.ts'],
    env: { SHOOT_FLUX_KILLS: process.env.SHOOT_FLUX_KILLS || 'states' },
    ...timeLimits,
    maxWorkers: 2,
  },
});
