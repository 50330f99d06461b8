/**
 * Draws the output of the demo as an SVG of a terminal, from standard input to standard output:
 * `npm run --silent demo | npx node test/demo/picture.ts > docs/images/demo.svg`. It leaves out the
 * introduction, the second Shoot and most runs of functions.
 */
import { text } from 'node:stream/consumers';

const LINE = 17;
const COLUMN = 7.25;
const MARGIN = 16;

const isShown = (line: string) => !/shoot--demo--summer|ƒ (?!keys)|in progress|first pass|knownHosts/.test(line);
// Browsers collapse ordinary spaces.
const escaped = (line: string) => line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0');

function colour(line: string): string {
  if (/^\S/.test(line)) return '#8ec5ff';
  return /Ready at|available|Succeeded|is created/.test(line) ? '#9be9a8' : '#d5dbe1';
}

const output = await text(process.stdin);
const lines = output
  .slice(output.indexOf('A project with'))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
  .replaceAll(/\u001b\[[0-9;]*m/g, '')
  .trimEnd()
  .split('\n')
  .filter(isShown)
  .map((line) => (line.length > 112 ? `${line.slice(0, 111)}…` : line));
const rows = ['$ npm run demo', ...lines].map(
  (line, index) =>
    `<text x="${MARGIN}" y="${MARGIN + 12 + index * LINE}" fill="${colour(line)}">${escaped(line)}</text>`,
);
const width = Math.ceil(MARGIN * 2 + 112 * COLUMN);
const height = MARGIN * 2 + rows.length * LINE;
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12">
<title>npm run demo: two Shoots come up with Flux and follow a commit</title>
<rect width="${width}" height="${height}" rx="8" fill="#1b2129"/>
${rows.join('\n')}
</svg>
`);
