import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { timeLimits } from './test/time-limits.ts';

/** The two longest suites start first, one for each worker: by default the largest files would, and these are small. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => /\/(contract|main-job)\.test\.ts$/.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** The suites that run against real kube-apiservers, Flux releases and Flux controllers: `npm run test:real`. */
export default defineConfig({
  test: {
    include: ['test/real/**/*.test.ts'],
    globalSetup: ['test/real/setup.ts'],
    ...timeLimits,
    sequence: { sequencer: LongestFirst },
    // Each suite mostly waits for programs of its own.
    maxWorkers: 2,
  },
});
