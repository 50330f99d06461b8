import { readFile } from 'node:fs/promises';
import { Ajv, type ErrorObject } from 'ajv';
import { parse } from 'yaml';
import { nearest } from '../../../shared/config/nearest.ts';
import type { ConfigIssue } from '../../../shared/errors.ts';
import { fieldsOf } from '../../../shared/gardener/shapes.ts';

const DEFAULTS = new URL('../../../charts/shoot-flux/values.yaml', import.meta.url);
const SCHEMA = new URL('../../../charts/shoot-flux/values.schema.json', import.meta.url);

/**
 * Returns what the chart's schema refuses in a file of values, as Helm would in the seed: there the installation would
 * fail and the former version keep running.
 */
export async function valuesIssues(file: string, values: object): Promise<ConfigIssue[]> {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false });
  const validate = ajv.compile(JSON.parse(await readFile(SCHEMA, 'utf8')));
  const defaults = parse(await readFile(DEFAULTS, 'utf8'));
  return validate(withoutRemoved(values, defaults))
    ? []
    : (validate.errors ?? []).filter(isOwn).map((error) => issueOf(file, error));
}

/** With `null`, Helm removes a default before it looks at the schema. Another `null` is a value that it refuses. */
function withoutRemoved(values: object, defaults: Record<string, unknown> = {}): object {
  const kept = Object.entries(values).filter(([key, value]) => value !== null || !Object.hasOwn(defaults, key));
  return Object.fromEntries(
    kept.map(([key, value]) => [key, fieldsOf(value) ? withoutRemoved(value, fieldsOf(defaults[key])) : value]),
  );
}

/** Of a condition, the branch says what is wrong. */
const isOwn = ({ keyword }: ErrorObject) => keyword !== 'if';

function issueOf(object: string, { keyword, message, params, instancePath, parentSchema }: ErrorObject): ConfigIssue {
  const path = instancePath.split('/').slice(1);
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty);
    const close = nearest(name, Object.keys(parentSchema?.properties ?? {}));
    const remedy = close === undefined ? 'charts/shoot-flux/README.md lists all' : `did you mean ${close}?`;
    return { object, path: [...path, name].join('.'), message: `is not a value of the chart; ${remedy}` };
  }
  if (keyword === 'type')
    return { object, path: path.join('.'), message: `must be ${[params.type].flat().join(' or ')}` };
  const allowed = keyword === 'enum' ? `: ${params.allowedValues.join(', ')}` : '';
  return { object, path: path.join('.'), message: `${message}${allowed}` };
}
