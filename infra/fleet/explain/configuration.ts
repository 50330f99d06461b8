import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import type { Place } from '../../../shared/config/origins.ts';
import type { ConfigInputs, EffectiveConfig } from '../../../shared/config/types.ts';
import { asObject } from '../../../shared/config/values.ts';
import { ConfigError, type ConfigIssue, issueText, unlessInvalid, withFullStop } from '../../../shared/errors.ts';
import { safeText } from '../../../shared/runtime/safe-text.ts';
import { textAt } from '../../../shared/shapes.ts';
import { kubectl, type Link, safeSentence } from './link.ts';

/** A value of the effective configuration, and the layer that decides it. */
export interface ValueFrom extends Place {
  /** Its path in the effective configuration, for example `flux.version`. */
  name: string;
  /** As far as it is safe to show: of objects the names of their keys. */
  value: string;
}

/** What the first link says, and the configuration for the next ones; undefined: it is wrong. */
export interface Explained {
  link: Link;
  values: ValueFrom[];
  config: EffectiveConfig | undefined;
}

/** A Shoot, and the flags with which kubectl reaches the garden. */
export interface Subject {
  namespace: string;
  name: string;
  kubectl: readonly string[];
}

/** Explains where the configuration of a Shoot comes from, and what is wrong with it. */
export function explainConfiguration(inputs: ConfigInputs, subject: Subject): Explained {
  const config = unlessInvalid(() => effectiveConfig(inputs));
  const link = { name: 'Configuration' } as const;
  if (config instanceof ConfigError) {
    const [first, ...others] = config.issues as [ConfigIssue, ...ConfigIssue[]];
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    const details = others.map((issue) => safeSentence(issueText(issue)));
    const text = `${objectName(first)} is not valid${more}`;
    const broken = { ...link, mark: 'broken', text, ...issueOf(first, subject), details } as const;
    return { link: broken, values: [], config: undefined };
  }
  const values = valuesFrom(config);
  const details: string[] = [];
  const [warning] = config.warnings ?? [];
  const layers = [...new Set(values.map(objectName))];
  const text =
    values.length === 0
      ? 'nobody has configured anything: Flux is installed with defaults and synchronises nothing'
      : `${layers.join(', ')}: ${values.length === 1 ? '1 value' : `${values.length} values`}; all others are defaults`;
  if (warning === undefined) return { link: { ...link, mark: 'ok', text, details }, values, config };
  return { link: { ...link, mark: 'attention', text, ...issueOf(warning, subject), details }, values, config };
}

function issueOf(issue: ConfigIssue, subject: Subject): Pick<Link, 'sentence' | 'command'> {
  return { sentence: safeSentence(withFullStop(issueText(issue))), command: commandFor(issue, subject) };
}

/** Of a Secret it shows no content. */
function commandFor({ object }: Place, { namespace, name, kubectl: flags }: Subject): string {
  const [, kind = '', other = ''] = /^(ConfigMap|Secret) (?:\S+\/)?(\S+)$/.exec(object) ?? [];
  if (kind === 'Secret') return kubectl(['describe', 'secret', other], namespace, flags);
  const shown = kind === '' ? ['shoot', name] : ['configmap', other];
  return kubectl(['get', ...shown, '-o', 'yaml'], namespace, flags);
}

/** `flux-config` instead of `ConfigMap garden-foo/flux-config`. */
const objectName = ({ object }: Place) => object.replace(/^ConfigMap (?:\S+\/)?/, '');

/** Returns a line for each value: its name, what it is, and where it comes from. */
export function valueRows(values: readonly ValueFrom[]): string[] {
  const width = (key: 'name' | 'value') => Math.max(0, ...values.map((one) => one[key].length));
  const [name, value] = [width('name'), width('value')];
  return values.map((one) => `${one.name.padEnd(name)}  ${one.value.padEnd(value)}  ${placeText(one)}`);
}

const placeText = (place: Place) => `${objectName(place)}${place.path === '' ? '' : `: ${place.path}`}`;

/** Returns where the values of a configuration come from; entries of lists are part of their list. */
function valuesFrom(config: EffectiveConfig): ValueFrom[] {
  return Object.entries(config.origins).flatMap(([name, place]) => {
    const value = valueAt(config, name);
    const isEntry = name.includes('[') && !name.startsWith('objects[');
    return isEntry || value === undefined ? [] : [{ name, value: shownValue(value), ...place }];
  });
}

function valueAt(config: object, path: string): unknown {
  const keys = path.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
  return keys.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config);
}

const LONGEST_VALUE = 80;

/** A template may hold anything in its fields, also what should be in a Secret. */
function shownValue(value: unknown): string {
  if (typeof value === 'string') return safeText(value, LONGEST_VALUE);
  if (Array.isArray(value)) {
    if (value.every((entry) => typeof entry === 'string')) return safeText(value.join(', '), LONGEST_VALUE);
    return value.length === 1 ? '1 entry' : `${value.length} entries`;
  }
  const object = asObject(value);
  if (object === undefined) return String(value);
  const [kind, name] = [textAt(object, 'kind'), textAt(object, 'metadata', 'name')];
  if (kind !== undefined && name !== undefined) return `${kind} ${textAt(object, 'metadata', 'namespace')}/${name}`;
  return safeText(`{${Object.keys(object).join(', ')}}`, LONGEST_VALUE);
}
