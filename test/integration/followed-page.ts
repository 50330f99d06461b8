import { afterAll, expect, type RunnerTask } from 'vitest';
import { commandsIn, documents, type Fence } from './documents.ts';

/** A page of the documentation that a test follows. */
export interface FollowedPage {
  /**
   * Returns a block of commands by the heading above it. It counts as run when what runs its text succeeds.
   * @param number 1 for the first one below that heading
   */
  block(section: string, number?: number): { run<T>(shell: (text: string) => Promise<T>): Promise<T> };
  /** Returns a block of YAML by the heading above it. */
  yaml(section: string, number?: number): string;
  /** Runs all blocks of commands below a heading, and returns what they printed. */
  follow(section: string, shell: (text: string) => Promise<string>): Promise<string>;
}

/**
 * Opens a page for a test that runs its commands as they stand. The surrounding suite fails if a command of the page has
 * not been run at its end.
 */
export function followPage(path: string): FollowedPage {
  const fences = documents.find((document) => document.path === path)?.fences ?? [];
  const blocks = fences.filter(({ language }) => language === 'sh');
  const left = new Set(blocks);
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern here.
  afterAll(({}, suite) => {
    // A suite of which only a part runs cannot run everything.
    if (!hasPassed(suite.tasks)) return;
    const commands = [...left].flatMap(({ text, section }) => commandsIn(text).map((line) => `${section}: ${line}`));
    expect(commands, `commands of ${path} that no test has run`).toEqual([]);
  });

  const below = (section: string, language: string, number: number): [Fence, ...Fence[]] => {
    const found = fences.filter((fence) => fence.section === section && fence.language === language);
    const [first, ...more] = found.slice(number - 1);
    if (first === undefined) {
      throw new Error(`${path} has fewer than ${number} blocks of ${language} below "${section}".`);
    }
    return [first, ...more];
  };
  const run = async <T>(fence: Fence, shell: (text: string) => Promise<T>): Promise<T> => {
    const result = await shell(fence.text);
    left.delete(fence);
    return result;
  };
  return {
    block: (section, number = 1) => ({ run: (shell) => run(below(section, 'sh', number)[0], shell) }),
    yaml: (section, number = 1) => below(section, 'yaml', number)[0].text,
    async follow(section, shell) {
      let output = '';
      for (const fence of below(section, 'sh', 1)) output += await run(fence, shell);
      return output;
    },
  };
}

function hasPassed(tasks: readonly RunnerTask[]): boolean {
  return tasks.every((task) => ('tasks' in task ? hasPassed(task.tasks) : task.result?.state === 'pass'));
}
