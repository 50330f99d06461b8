import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { CHOOSING_PAGE, choosingPage } from './choosing.ts';

it('docs/choosing.md is what npm run docs writes', async () => {
  expect(await readFile(CHOOSING_PAGE, 'utf8'), 'run: npm run docs').toBe(await choosingPage());
});

it('has an amount for every way and landscape', async () => {
  const page = await choosingPage();
  expect(page).not.toMatch(/NaN|Infinity|undefined/);
  for (const way of ['One Deployment per seed', 'AWS Lambda and SQS', 'Knative']) {
    expect(page).toMatch(new RegExp(String.raw`^\| ${way} \|(?: [\d,.]+ \([\d,.]+\) \|){3}$`, 'm'));
  }
});
