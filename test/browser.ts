import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Debian's package `chromium`; where it is missing, tests in a browser are skipped. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasBrowser = existsSync(CHROMIUM);

export const launchBrowser = () => chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });

/** How people look at a page: on a phone and on a desk, light and dark. */
export const looks: [string, BrowserContextOptions][] = [
  ['360-light', { viewport: { width: 360, height: 740 }, colorScheme: 'light' }],
  ['360-dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
  ['1440-light', { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }],
  ['1440-dark', { viewport: { width: 1440, height: 900 }, colorScheme: 'dark' }],
];

/** Opens a page, and notes whatever its policy forbids, and errors of its scripts. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ ...options, bypassCSP: false });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(url);
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns what the checker of accessibility finds, by rule and place. */
export async function findings(page: Page): Promise<string[]> {
  // As the checker, not as the page: so its policy does not forbid it.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<Findings> } }).axe.run(),
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
}

interface Findings {
  violations: { id: string; nodes: { target: string[] }[] }[];
}

/** True: a reader has to scroll sideways. */
export const isWide = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
