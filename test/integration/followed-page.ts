import { afterAll, expect, type RunnerTask } from 'vitest';
import { commandsIn, documents, type Fence } from './documents.ts';

/** A block of commands on a page. */
export interface Block {
  text: string;
  /** Passes the text to something that runs it. The block counts as run when that succeeds. */
  run<T>(shell: (text: string) => Promise<T>): Promise<T>;
}

/** A page of the documentation that a test follows. */
export interface FollowedPage {
  /** Returns a block of commands by the heading above it. @param number 1 for the first one below that heading */
  block(section: string, number?: number): Block;
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

  const below = (section: string, language: string): [Fence, ...Fence[]] => {
    const [first, ...more] = fences.filter((fence) => fence.section === section && fence.language === language);
    if (first === undefined) throw new Error(`${path} has no block of ${language} below "${section}".`);
    return [first, ...more];
  };
  const at = (section: string, language: string, number: number): Fence => {
    const fence = below(section, language)[number - 1];
    if (fence === undefined)
      throw new Error(`${path} has fewer than ${number} blocks of ${language} below "${section}".`);
    return fence;
  };
  const blockOf = (fence: Fence): Block => ({
    text: fence.text,
    async run(shell) {
      const result = await shell(fence.text);
      left.delete(fence);
      return result;
    },
  });
  return {
    block: (section, number = 1) => blockOf(at(section, 'sh', number)),
    yaml: (section, number = 1) => at(section, 'yaml', number).text,
    async follow(section, shell) {
      let output = '';
      for (const fence of below(section, 'sh')) output += await blockOf(fence).run(shell);
      return output;
    },
  };
}

function hasPassed(tasks: readonly RunnerTask[]): boolean {
  return tasks.every((task) => ('tasks' in task ? hasPassed(task.tasks) : task.result?.state === 'pass'));
}
