import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The kill suites in every state rather than in a sample: `npm run test:kills`. */
export default defineConfig({
  test: {
    ...base.test,
    include: ['test/integration/{kill,kill-direct,matrix,concurrency}.test.ts'],
    env: { SHOOT_FLUX_KILLS: process.env.SHOOT_FLUX_KILLS || 'states' },
  },
});
