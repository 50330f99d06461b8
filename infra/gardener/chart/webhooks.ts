import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { type AnyDefinition, isWebhook } from '../../functions.ts';
import { CONFIGURATION } from '../../webhooks/names.ts';
import { webhookObjects } from '../webhooks.ts';

/** A webhook of a chart; the templates add how API servers reach its path. */
type ChartWebhook = Record<string, unknown> & { path: string };

const title = '# Written by "npm run docs" from the functions\' definitions: webhooks with their paths.\n';

/** Generates the file with the webhooks of a seed. */
export function chartWebhooks(definitions: AnyDefinition[], place: 'garden' | 'seed'): string {
  return yaml({ webhooks: webhooksIn(definitions, place) });
}

/**
 * Generates the file with the webhooks of the garden. Their configuration is created once and never updated, so other
 * content gets another name; the parts of the chart are installed in different clusters and have to agree on it.
 */
export function admissionWebhooks(definitions: AnyDefinition[]): string {
  const webhooks = webhooksIn(definitions, 'garden');
  const hash = createHash('sha256').update(JSON.stringify(webhooks)).digest('hex').slice(0, 8);
  return yaml({ configuration: `${CONFIGURATION}-${hash}`, webhooks });
}

function webhooksIn(definitions: AnyDefinition[], place: 'garden' | 'seed'): ChartWebhook[] {
  const objects = webhookObjects(definitions.filter(isWebhook), place, ({ path }) => ({ path }));
  const entries = objects.flatMap((object) => object.webhooks as (ChartWebhook & { clientConfig: ChartWebhook })[]);
  return entries.map(({ clientConfig: { path }, ...entry }) => ({ ...entry, path }));
}

function yaml(content: object): string {
  return `${title}${stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}
