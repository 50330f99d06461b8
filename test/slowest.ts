import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const LISTED = 20;

/** A reporter that lists the slowest tests and test files at the end: `npm run test:slowest`. */
export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    report(
      'tests',
      tests.map((test) => [durationOf(test), `${fileOf(test.module)} > ${test.fullName}`] as const),
    );
    report(
      'files',
      modules.map((module) => [module.diagnostic().duration, fileOf(module)] as const),
    );
  }
}

const durationOf = (test: TestCase) => test.diagnostic()?.duration ?? 0;
const fileOf = ({ moduleId }: TestModule) => relative(process.cwd(), moduleId);

function report(what: string, durations: (readonly [ms: number, name: string])[]): void {
  const slowest = durations.toSorted(([one], [other]) => other - one).slice(0, LISTED);
  const lines = slowest.map(([ms, name]) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name}\n`);
  process.stdout.write(`\nThe slowest ${what}:\n${lines.join('')}`);
}
