import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import type { Place as Origin } from '../../../shared/config/origins.ts';
import type { ConfigInputs, EffectiveConfig } from '../../../shared/config/types.ts';
import { ConfigError, issueText, unlessInvalid, withFullStop } from '../../../shared/errors.ts';
import { counted, safeText } from '../../../shared/runtime/safe-text.ts';
import { fieldsOf, textAt } from '../../../shared/shapes.ts';
import { kubectl, type Place } from '../kubectl.ts';
import type { Report } from './link.ts';

/** A value of the effective configuration, and where the layer that decides it sets it. */
export interface ValueFrom extends Origin {
  /** Its path in the effective configuration, for example `flux.version`. */
  name: string;
  /** As far as it is safe to show: of an object the names of its keys. */
  value: string;
}

/** A Shoot in the garden. */
export interface Subject extends Place {
  name: string;
}

/** What the link says, and what the next ones need: the configuration, or that of nobody where it is wrong or not seen. */
interface Explained {
  report: Report | string;
  values: ValueFrom[];
  config: EffectiveConfig;
}

/** Explains where the configuration of a Shoot comes from, and what is wrong with it. @param inputs or why they are not seen */
export function explainConfiguration(inputs: ConfigInputs | string, subject: Subject): Explained {
  const none = { values: [], config: effectiveConfig({}) };
  if (typeof inputs === 'string') return { report: inputs, ...none };
  const config = unlessInvalid(() => effectiveConfig(inputs));
  const [first, ...others] = config instanceof ConfigError ? config.issues : (config.warnings ?? []);
  const found = first && {
    sentence: withFullStop(issueText(first)),
    command: commandFor(first, subject),
    details: others.map(issueText),
  };
  if (config instanceof ConfigError) {
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    return { report: { mark: 'broken', text: `${objectName(first)} is not valid${more}`, ...found }, ...none };
  }
  const values = valuesFrom(config);
  const layers = [...new Set(values.map(objectName))].join(', ');
  const text =
    values.length === 0
      ? 'nobody has configured anything, so Flux is installed and synchronises nothing'
      : `${layers}: ${counted(values.length, 'value')}; all others are defaults`;
  return { report: { mark: found ? 'attention' : 'ok', text, ...found }, values, config };
}

/** Of a Secret it shows no content. The defaults of the landscape are in no object. */
function commandFor({ object }: Origin, subject: Subject): string | undefined {
  const [, kind, name = ''] = /^(ConfigMap|Secret) (?:\S+\/)?(\S+)$/.exec(object) ?? [];
  if (kind === 'Secret') return kubectl(['describe', 'secret', name], subject);
  if (kind === 'ConfigMap') return kubectl(['get', 'configmap', name, '-o', 'yaml'], subject);
  return object === 'providerConfig' ? kubectl(['get', 'shoot', subject.name, '-o', 'yaml'], subject) : undefined;
}

/** `flux-config` instead of `ConfigMap garden-foo/flux-config`. */
export const objectName = (place?: Pick<Origin, 'object'>) =>
  (place?.object ?? '').replace(/^ConfigMap (?:\S+\/)?/, '');

/** Returns where the values of a configuration come from; entries of a list are part of it. */
function valuesFrom(config: EffectiveConfig): ValueFrom[] {
  return Object.entries(config.origins).flatMap(([name, place]) => {
    const keys = name.replaceAll(/\[(\d+)\]/g, '.$1').split('.');
    const value = keys.reduce<unknown>((from, key) => (from as Record<string, unknown> | undefined)?.[key], config);
    return value === undefined || name.includes('components[') ? [] : [{ name, value: shownValue(value), ...place }];
  });
}

const LONGEST_VALUE = 80;

/** A template may hold anything in its fields, also what should be in a Secret. */
function shownValue(value: unknown): string {
  if (Array.isArray(value)) {
    const isText = value.every((entry) => typeof entry === 'string');
    return isText ? safeText(value.join(', '), LONGEST_VALUE) : `a list of ${value.length}`;
  }
  const fields = fieldsOf(value);
  if (fields === undefined) return safeText(String(value), LONGEST_VALUE);
  const { kind, metadata, ...others } = fields;
  if (metadata === undefined) {
    const keys = Object.keys(fields);
    return safeText(keys.join() === 'name' ? `${others.name}` : `{${keys.join(', ')}}`, LONGEST_VALUE);
  }
  return `${kind} ${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`;
}
