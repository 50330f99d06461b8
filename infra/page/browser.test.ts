import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { findings, hasBrowser, isWide, launchBrowser, looks, openPage } from '../../test/browser.ts';
import { landscapeOf, startPage } from './testing.ts';

/** First paint loads no more than this. */
const MOST_BYTES = 300_000;

/** A folder for screenshots, to look at. */
const shots = process.env.SHOOT_FLUX_SCREENSHOTS;

describe.skipIf(!hasBrowser)('in a browser', { timeout: 180_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  const open = (url: string, options?: BrowserContextOptions) => openPage(browser, url, options);

  // The checker needs seconds for 200 rows. The last page of 401 Shoots has one row, the pager, and more than ten projects.
  describe.each([0, 1, 60, 401, 2_000, 10_000])('with %i Shoots', (count) => {
    let served: Awaited<ReturnType<typeof startPage>>;
    beforeAll(async () => {
      served = await startPage(landscapeOf(count));
    });
    afterAll(() => served?.[Symbol.asyncDispose]());

    const more = ['/?project=p1', '/shoot?project=p1&name=s1', '/counts?by=project'];
    const paths = count === 401 ? ['/?page=3'] : ['/', ...(count === 0 ? [] : more)];

    it.runIf([0, 60, 401].includes(count) || shots !== undefined).each(looks)(
      '%s: is accessible and nothing overflows',
      async (look, options) => {
        for (const path of paths) {
          await using opened = await open(served.url + path, options);
          const { page, problems } = opened;
          if (shots !== undefined) {
            const name = `${count}${path.replace(/\W+/g, '-')}`;
            await page.screenshot({ path: `${shots}/${name}-${look}.png` });
            await page.screenshot({ path: `${shots}/${name}-${look}-full.png`, fullPage: count < 2 });
          }
          expect(await isWide(page), path).toBe(false);
          expect(await findings(page), path).toEqual([]);
          expect(problems, path).toEqual([]);
        }
      },
    );

    it('loads little', async () => {
      await using opened = await open(served.url);
      const { bytes, paint } = (await opened.page.evaluate(`new Promise((resolve) => {
        const bytes = () => performance.getEntries().reduce((sum, entry) => sum + (entry.decodedBodySize ?? 0), 0);
        const painted = (list) => resolve({ bytes: bytes(), paint: list.getEntries()[0].startTime });
        new PerformanceObserver(painted).observe({ type: 'paint', buffered: true });
      })`)) as { bytes: number; paint: number };
      if (shots !== undefined)
        console.log(`${count} Shoots: ${bytes} bytes, first paint after ${Math.round(paint)} ms`);
      expect(bytes).toBeGreaterThan(2_000);
      expect(bytes).toBeLessThan(MOST_BYTES);
    });
  });

  describe('open', () => {
    let served: Awaited<ReturnType<typeof startPage>>;
    beforeAll(async () => {
      served = await startPage(landscapeOf(450));
    });
    afterAll(() => served?.[Symbol.asyncDispose]());

    it('shows a change without reloading, says it, and leaves focus and inputs to the reader', async () => {
      await using opened = await open(served.url);
      const { page, problems } = opened;
      await page.evaluate('window.isSame = true');
      await page.fill('input[name=text]', 'not sent yet');
      await page.focus('th a[href="shoot?project=p1&name=s1"]');
      const before = await page.textContent('#states');
      const patch = { data: { s1: 'Progressing since 2020-01-01T00:00:00Z: This is new; look here.' } };
      await served.client.mergePatch(resources.configMaps, { namespace: 'garden-p1', name: 'flux-status' }, patch, {
        fieldManager: 'test',
      });
      await page.waitForSelector('text=This is new; look here.', { timeout: 120_000 });
      expect(await page.textContent('#states')).not.toBe(before);
      expect(await page.textContent('#news')).toMatch(/^\d+ not Ready, \d+ progressing of 450 Shoots$/);
      expect(await page.evaluate('document.activeElement.textContent')).toBe('s1');
      expect(await page.inputValue('input[name=text]')).toBe('not sent yet');
      expect(await page.evaluate('window.isSame')).toBe(true);
      expect(problems).toEqual([]);
    });

    it('is used with the keyboard: skip link, filters, pages', async () => {
      await using opened = await open(served.url);
      const { page } = opened;
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('main');
      await page.click('text=Next →');
      expect(new URL(page.url()).search).toBe('?page=2');
      expect(await page.textContent('.pages span')).toBe('201 to 400 of 450');
      await page.selectOption('select[name=state]', 'not-ready');
      await page.focus('input[name=project]');
      await page.keyboard.type('p1');
      await page.keyboard.press('Enter');
      await page.waitForURL(/project=p1/);
      expect(await page.textContent('h1')).toBe('Project p1');
      expect(await page.locator('.shoots .state:not(.not-ready)').count()).toBe(0);
      expect(await page.locator('.shoots .not-ready').count()).toBeGreaterThan(0);
    });

    it('says when it can no longer be brought up to date', async () => {
      await using opened = await open(served.url);
      const { page } = opened;
      await page.route('**', (route) => route.abort());
      await page.waitForSelector('.stopped #news:has-text("Updates have stopped")', { timeout: 120_000 });
    });
  });
});
