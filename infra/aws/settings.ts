import { scanEntryProblem } from '../../functions/keys/ssh/scan-policy.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import type { LogLevel } from '../../shared/runtime/log.ts';
import { landscapeIn } from './landscape.ts';

/** The environment of a Lambda, as serverless.yml sets it. */
export interface Environment {
  settings: Settings;
  /** Prefix of the names of the AWS secrets that hold kubeconfigs; the cluster's name follows. */
  kubeconfigSecretPrefix: string;
  /** Start of the audience of AWS's tokens for clusters; the cluster's name follows. Absent: kubeconfigs have credentials. */
  clusterAudiencePrefix?: string | undefined;
  logLevel: LogLevel;
}

type Variables = Record<string, string | undefined>;

/** Reads a Lambda's environment. @throws ShootFluxError that names the missing or wrong variable */
export function readEnvironment(variables: Variables): Environment {
  return {
    kubeconfigSecretPrefix: needed(variables, 'KUBECONFIG_SECRET_PREFIX'),
    clusterAudiencePrefix: variables.CLUSTER_AUDIENCE_PREFIX || undefined,
    logLevel: oneOf(variables, 'LOG_LEVEL', ['info', 'debug', 'warn', 'error']),
    settings: {
      landscape: variables.LANDSCAPE || 'gardener',
      gardenIdentity: variables.GARDEN_IDENTITY || undefined,
      seeds: listOf(variables, 'SEEDS'),
      fluxDistribution: variables.FLUX_DISTRIBUTION || 'flux-distribution',
      shootHealth: oneOf(variables, 'SHOOT_HEALTH', ['false', 'true']) === 'true',
      delivery: oneOf(variables, 'DELIVERY', ['ManagedResource', 'Direct', 'Auto']),
      shootAccess: oneOf(variables, 'SHOOT_ACCESS', ['external', 'internal']),
      hostKeyScan: {
        mode: oneOf(variables, 'HOST_KEY_SCAN', ['on', 'listed', 'off']),
        allow: scanEntries(variables, 'HOST_KEY_SCAN_ALLOW'),
        deny: scanEntries(variables, 'HOST_KEY_SCAN_DENY'),
      },
      ...landscapeIn(variables.CONFIG),
    },
  };
}

/**
 * Returns the prefix of every queue's URL, for example `https://sqs.eu-west-1.amazonaws.com/123456789012/shoot-flux-prod-`.
 * @throws ShootFluxError when the variable is missing
 */
export function readQueueUrlPrefix(variables: Variables): string {
  return needed(variables, 'QUEUE_URL_PREFIX');
}

function listOf(variables: Variables, name: string): string[] {
  return (variables[name] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}

function scanEntries(variables: Variables, name: string): string[] {
  const entries = listOf(variables, name);
  const problem = entries.map(scanEntryProblem).find((found) => found !== undefined);
  if (problem === undefined) return entries;
  throw new ShootFluxError(`Environment variable ${name}: ${problem}.`);
}

function needed(variables: Variables, name: string): string {
  const value = variables[name];
  if (value) return value;
  throw new ShootFluxError(`Environment variable ${name} is not set; see serverless.yml.`);
}

/** The first value is the default. */
function oneOf<T extends string>(variables: Variables, name: string, values: [T, ...T[]]): T {
  const value = variables[name] || values[0];
  const known = values.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  throw new ShootFluxError(`Environment variable ${name} must be one of ${values.join(', ')}.`);
}
