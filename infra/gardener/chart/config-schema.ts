import type { Option } from '../../cli/option.ts';
import { serviceOptions } from '../../cli/options.ts';
import { keyOf } from '../../cli/sources/names.ts';
import { isLandscapeValue, landscapeRef } from './landscape-schema.ts';

type Schema = Record<string, unknown>;

const text = { type: ['string', 'number'] };

/** Keys that follow from other values, or must fit what the templates render: ports, probes, Services, mounts. */
const OF_CHARTS = [
  'port',
  'eventsPort',
  'sink',
  'webhookPort',
  'webhookFunction',
  'webhookConfiguration',
  'webhookSecret',
  'webhookCert',
  'webhookKey',
  'webhookCa',
];

/** Returns the JSON Schema of what a chart's values add to the config file: Helm reports a typo before a process does. */
export function configSchema(): Schema {
  const options = Object.entries(serviceOptions).map(([flag, option]): [string, Option] => [
    keyOf(flag, option),
    option,
  ]);
  const properties = options
    .filter(([name]) => !OF_CHARTS.includes(name))
    .map(([name, option]) => [
      name,
      isLandscapeValue(name) ? landscapeRef(name) : { description: option.description, ...typeOf(option) },
    ]);
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

function typeOf({ type, multiple, map }: Option): Schema {
  if (type === 'nested') return { type: 'object' };
  if (type === 'boolean') return { type: 'boolean' };
  if (map === true) return { type: 'object', additionalProperties: text };
  return multiple === true ? { type: ['array', 'string'], items: text } : text;
}
