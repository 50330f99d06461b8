import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The suites that take longest, the longest first. */
const longest = [
  'contract',
  'main-job',
  'kill',
  'kill-direct',
  'matrix',
  'concurrency',
  'changes',
  'direct',
  'removal',
  'landscape',
  'webhooks',
  'slow-shoot',
].map((name) => `/test/integration/${name}.test.ts`);

/** Starts the longest suites first: a worker that gets one of them last would delay the end of the run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex((name) => moduleId.endsWith(name));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}
