import { defineConfig } from 'vitest/config';
import { timeLimits } from './test/time-limits.ts';

/** The suites that need nothing but this repository: `npm test`. */
export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // They share no state, and loading their modules again for each file takes half of the time.
        test: {
          name: 'units',
          include: ['{events,functions,shared}/**/*.test.ts', 'infra/{doctor,page,process,webhooks}/**/*.test.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'servers',
          include: [
            ...['infra/*.test.ts', 'infra/!(doctor|page|process|webhooks)/**/*.test.ts'],
            'test/{data,landscape,integration}/**/*.test.ts',
          ],
        },
      },
    ],
    globalSetup: ['test/temporary-folder.ts'],
    setupFiles: ['test/property-seed.ts'],
    ...timeLimits,
    // One more than two cores, because suites with servers also wait. More of them only delay each other.
    maxWorkers: 3,
  },
});
