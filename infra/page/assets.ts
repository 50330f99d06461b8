import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';

// A bundle has their text instead (infra/bundle/bundle-cli.ts).
const css = readFileSync(new URL('./page.css', import.meta.url), 'utf8');
const js = readFileSync(new URL('./page.js', import.meta.url), 'utf8');

const named = (text: string, ending: string, type: string) => ({
  name: `page-${hash('sha256', text).slice(0, 12)}.${ending}`,
  text,
  type: `${type}; charset=utf-8`,
});

/** Files whose names change with their content. */
export const style = named(css, 'css', 'text/css');
export const script = named(js, 'js', 'text/javascript');
