import { defineConfig } from 'vitest/config';

/** The suites that need nothing but this repository: `npm test`. */
export default defineConfig({
  test: {
    include: ['{events,functions,shared,infra}/**/*.test.ts', 'test/{data,landscape,integration}/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A second, the default, is not enough on a machine that is busy.
    expect: { poll: { timeout: 15_000 } },
    // Most suites start servers; on two cores more workers only make each other late.
    maxWorkers: 2,
  },
});
