import { readFile } from 'node:fs/promises';
import { Ajv, type ErrorObject } from 'ajv';
import { nearest } from '../../../shared/config/nearest.ts';

const SCHEMA = new URL('../../../charts/shoot-flux/values.schema.json', import.meta.url);

/** Further problems only repeat the first ones. */
const MOST = 5;

/**
 * Returns what the chart's schema refuses in values, one sentence for each, as Helm would in the seed: there the
 * installation would fail and the former version keep running.
 */
export async function valuesProblems(values: object): Promise<string[]> {
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false });
  const validate = ajv.compile(JSON.parse(await readFile(SCHEMA, 'utf8')));
  return validate(values) ? [] : (validate.errors ?? []).filter(isOwn).slice(0, MOST).map(sentence);
}

/** Of a condition, the branch says what is wrong. */
const isOwn = ({ keyword }: ErrorObject) => keyword !== 'if';

function sentence({ keyword, message, params, instancePath, parentSchema }: ErrorObject): string {
  const path = instancePath.split('/').slice(1);
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty);
    const close = nearest(name, Object.keys(parentSchema?.properties ?? {}));
    const remedy = close === undefined ? 'charts/shoot-flux/README.md lists all' : `did you mean ${close}?`;
    return `${[...path, name].join('.')} is not a value of the chart; ${remedy}`;
  }
  const allowed = keyword === 'enum' ? `: ${params.allowedValues.join(', ')}` : '';
  return `${path.join('.')} ${message}${allowed}`;
}
