import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { namespaceName, objectName } from './checks.ts';
import { OPERATORS_NAMESPACE, PULL_SECRET } from './project-config.ts';
import { readProviderConfig, writtenSource } from './provider-config.ts';
import { key, schemaIssues, text } from './schema.ts';
import type { Defaults, Landscape, Layer, PullSecret } from './types.ts';
import { asObject, type JsonObject, withoutEmpty } from './values.ts';

/** The name of the defaults in errors. */
export const DEFAULTS = "the landscape's defaults";

/** `defaults.pullSecret`. */
export const pullSecretSchema = z.strictObject({
  in: key(z.enum(['garden', 'seed']), {
    description: 'Where the Secret is: in the garden, or in the seed of each Shoot.',
    default: '`garden`',
    example: 'seed',
  }),
  namespace: key(text(namespaceName), {
    description: 'Its namespace there.',
    default: `\`${OPERATORS_NAMESPACE}\``,
    example: 'extension-shoot-flux',
  }),
  name: key(text(objectName), {
    description: `Its name. In the garden it must be \`${PULL_SECRET}\`, because the rights name it.`,
    default: `\`${PULL_SECRET}\``,
    example: 'registry-credentials',
  }),
});

/** True unless a value is absent, or null as in an empty YAML key. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Returns what is wrong with the defaults, whatever the policy says. */
export function defaultsIssues(defaults: unknown): ConfigIssue[] {
  if (!isSet(defaults)) return [];
  const { pullSecret, ...fluxConfig } = asObject(defaults) ?? {};
  if (asObject(defaults) === undefined) return layerOf(defaults).issues;
  return [...pullSecretIssues(pullSecret), ...projectIssues(fluxConfig), ...layerOf(fluxConfig).issues];
}

function pullSecretIssues(value: unknown): ConfigIssue[] {
  if (!isSet(value)) return [];
  const issues = schemaIssues(DEFAULTS, pullSecretSchema, value, ['pullSecret']);
  if (issues.length > 0) return issues;
  const secret = pullSecretOf({ pullSecret: value });
  if (secret === undefined || secret.in === 'seed' || secret.name === PULL_SECRET) return [];
  const message = `must be ${PULL_SECRET} in the garden, because the rights name it; omit it, or set in to seed`;
  return [{ object: DEFAULTS, path: 'pullSecret.name', message }];
}

/** What only a Shoot can name, because it refers to its `spec.resources`; and one half of a pair. */
function projectIssues(fluxConfig: JsonObject): ConfigIssue[] {
  const issue = (path: string, message: string): ConfigIssue => ({ object: DEFAULTS, path, message });
  const own = 'refers to spec.resources of a Shoot, which differ between Shoots; remove it';
  const issues: ConfigIssue[] = [];
  if (isSet(fluxConfig.additionalSecretResources)) issues.push(issue('additionalSecretResources', own));
  const { path, source } = writtenSource(fluxConfig.source);
  if (isSet(asObject(source)?.secretResourceName)) issues.push(issue(`${path}.secretResourceName`, own));
  const [missing, other] = isSet(fluxConfig.source) ? ['kustomization', 'source'] : ['source', 'kustomization'];
  if (isSet(fluxConfig.source) !== isSet(fluxConfig.kustomization)) {
    issues.push(issue(missing, `is missing, but ${other} is set; set both or neither`));
  }
  return issues;
}

/** Returns the layer of the defaults, which `readLandscape` has checked. */
export function defaultsLayer({ defaults }: Landscape): Layer {
  const { pullSecret: _, ...fluxConfig } = defaults ?? {};
  return layerOf(fluxConfig);
}

function layerOf(fluxConfig: unknown): Layer {
  return readProviderConfig(fluxConfig, { object: DEFAULTS, path: '' });
}

/** Returns the pull secret with its defaults filled in. */
export function pullSecretOf({ pullSecret }: Defaults = {}): PullSecret | undefined {
  const given = asObject(withoutEmpty(pullSecret)) as Partial<PullSecret> | undefined;
  if (given === undefined) return undefined;
  return { in: 'garden', namespace: OPERATORS_NAMESPACE, name: PULL_SECRET, ...given };
}
