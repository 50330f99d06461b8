import { parse } from 'yaml';
import type { ChartValue } from './values.ts';

/** Generates a chart's README from its Chart.yaml and values. */
export function chartReadme(chartYaml: string, values: ChartValue[]): string {
  const { name, description, annotations } = parse(chartYaml) as Chart;
  const rows = values.flatMap(({ path, description: meaning, default: value, keys = [] }) => [
    `| \`${path.join('.')}\` | ${cell(meaning)} | ${shown(value)} |`,
    ...keys.map((key) => `| \`${[...path, key.path].join('.')}\` | ${cell(key.description)} | ${cell(key.default)} |`),
  ]);
  return [
    `# ${name}`,
    `${description}. ${annotations?.['shoot-flux/documentation'] ?? ''}`.trim(),
    '<!-- Written by "npm run docs" from Chart.yaml and the comments in values.yaml. -->',
    ['| value | meaning | default |', '|---|---|---|', ...rows, ''].join('\n'),
  ].join('\n\n');
}

interface Chart {
  name: string;
  description: string;
  annotations?: Record<string, string>;
}

const cell = (text: string) => text.replaceAll('|', '\\|');

function shown(value: unknown): string {
  return value === '' ? 'empty' : `\`${cell(JSON.stringify(value))}\``;
}
