import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectOf, shootOn, statusMapOf } from '../fleet/testing.ts';
import { readable, startPage } from './testing.ts';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, '');

const objects = [
  ...projectOf('bar'),
  shootOn('aws-1', 'garden-foo', 'good'),
  shootOn('aws-1', 'garden-foo', 'bad'),
  shootOn('aws-2', 'garden-foo', 'worse'),
  shootOn('aws-2', 'garden-bar', 'asleep'),
  statusMapOf('garden-foo', {
    good: { state: 'Ready', flux: 'v2.9.4' },
    bad: {
      state: 'Not Ready',
      since: ago(30),
      flux: 'v2.9.4',
      sentence: 'Kustomization <b>"x"</b> fails; correct it.',
    },
    worse: { state: 'Not Ready', since: ago(300), flux: 'v2.8.8', sentence: 'The quota has no room.' },
  }),
  statusMapOf('garden-bar', { asleep: { state: 'Hibernated', flux: 'v2.9.4' } }),
];

let page: Awaited<ReturnType<typeof startPage>>;
beforeAll(async () => {
  page = await startPage(objects);
});
afterAll(() => page[Symbol.asyncDispose]());

const read = async (path: string) => readable(await (await page.get(path)).text());
const rowsOf = async (path: string) =>
  [...(await (await page.get(path)).text()).matchAll(/<tr><th scope="row"><a href="shoot\?[^"]*">([^<]*)/g)].map(
    ([, name]) => name,
  );

describe('the page', () => {
  it('shows what is not Ready first, the oldest before the others, with counts', async () => {
    expect(await rowsOf('/')).toEqual(['worse', 'bad', 'asleep', 'good']);
    const text = await read('/');
    expect(text).toContain('4 all 2 ✗ Not Ready 0 … Progressing 1 ☾ Hibernated 1 ✔ Ready');
    expect(text).toContain('worse foo ✗ Not Ready 5h v2.8.8 aws-2 The quota has no room.');
  });

  it('shows what others wrote as text', async () => {
    const text = await (await page.get('/')).text();
    expect(text).toContain('Kustomization &lt;b&gt;&quot;x&quot;&lt;/b&gt; fails');
  });
});
