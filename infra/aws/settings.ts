import { readFileSync } from 'node:fs';
import { scanEntryProblem } from '../../functions/keys/scan-policy.ts';
import { readLandscape } from '../../shared/config/landscape.ts';
import type { Landscape } from '../../shared/config/types.ts';
import { asObject } from '../../shared/config/values.ts';
import { fileProblem, ShootFluxError } from '../../shared/errors.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import type { LogLevel } from '../../shared/runtime/log.ts';
import { choices, DEFAULT_LANDSCAPE } from '../choices.ts';

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
export async function readEnvironment(variables: Variables): Promise<Environment> {
  return {
    kubeconfigSecretPrefix: needed(variables, 'KUBECONFIG_SECRET_PREFIX'),
    clusterAudiencePrefix: variables.CLUSTER_AUDIENCE_PREFIX || undefined,
    logLevel: chosen(variables, 'LOG_LEVEL', choices['log-level']),
    settings: {
      landscape: variables.LANDSCAPE || DEFAULT_LANDSCAPE,
      gardenIdentity: variables.GARDEN_IDENTITY || undefined,
      seeds: listOf(variables, 'SEEDS'),
      fluxDistribution: variables.FLUX_DISTRIBUTION || 'flux-distribution',
      shootHealth: chosen(variables, 'SHOOT_HEALTH', ['false', 'true']) === 'true',
      shootAccess: chosen(variables, 'SHOOT_ACCESS', choices['shoot-access']),
      hostKeyScan: {
        mode: chosen(variables, 'HOST_KEY_SCAN', choices['host-key-scan']),
        allow: scanEntries(variables, 'HOST_KEY_SCAN_ALLOW'),
        deny: scanEntries(variables, 'HOST_KEY_SCAN_DENY'),
      },
      ...(await landscapeIn(variables.CONFIG)),
    },
  };
}

/** Returns the prefix of every queue's URL, for example `https://sqs.eu-west-1.amazonaws.com/1234/shoot-flux-prod-`. */
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

/** Returns one of the words; the first is the default. */
function chosen<Word extends string>(variables: Variables, variable: string, words: readonly Word[]): Word {
  const known = words.find((word) => word === (variables[variable] || words[0]));
  if (known !== undefined) return known;
  throw new ShootFluxError(`Environment variable ${variable} must be one of ${words.join(', ')}.`);
}

/** Reads `defaults` and `policy` from the file of the package, in JSON: a parser of YAML slows every cold start. */
async function landscapeIn(file: string | undefined): Promise<Landscape> {
  if (!file) return {};
  const content = asObject(parsed(file));
  if (content === undefined) throw new ShootFluxError(`${file} is not a JSON object; correct the file of CONFIG.`);
  const known = ['defaults', 'policy'];
  const unknown = Object.keys(content).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new ShootFluxError(
      `${file} has the key ${JSON.stringify(unknown)}; on Lambda it may hold ${known.join(' and ')}.`,
    );
  }
  return readLandscape(content);
}

function parsed(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'it is not JSON' : fileProblem(error);
    throw new ShootFluxError(`cannot read ${file}, which CONFIG names: ${problem}.`);
  }
}
