import { readFileSync } from 'node:fs';

// The bundle has their text instead (infra/bundle/bundle-cli.ts).
export const style = readFileSync(new URL('./page.css', import.meta.url), 'utf8');
export const script = readFileSync(new URL('./page.js', import.meta.url), 'utf8');
