import { readFile } from 'node:fs/promises';
import { fileProblem, ShootFluxError } from '../../shared/errors.ts';
import type { Settings } from '../../shared/runtime/context.ts';
import type { LogLevel } from '../../shared/runtime/log.ts';
import { list, type Values, type Variables } from '../cli/option.ts';
import { healthOptions, landscapeOptions, logOptions, settingsOptions } from '../cli/options.ts';
import { settingsOf } from '../cli/settings.ts';
import { fromAllSources } from '../cli/sources.ts';

/** The environment of a Lambda, as serverless.yml sets it. */
export interface Environment {
  settings: Settings;
  /** Prefix of the names of the AWS secrets that hold kubeconfigs; the cluster's name follows. */
  kubeconfigSecretPrefix: string;
  /** Start of the audience of AWS's tokens for clusters; the cluster's name follows. Absent: kubeconfigs have credentials. */
  clusterAudiencePrefix?: string | undefined;
  /** Default: info. */
  logLevel: LogLevel | undefined;
}

const options = {
  ...settingsOptions,
  ...logOptions,
  seed: list('NAME', 'The seeds to serve.', { key: 'seeds' }),
  'shoot-health': healthOptions['shoot-health'],
};

/** Reads a Lambda's environment. @throws Error that names the missing or wrong variable */
export async function readEnvironment(variables: Variables): Promise<Environment> {
  const sources = { environment: variables, read: readJson };
  const values: Values<typeof options> = await fromAllSources(options, sources, landscapeOptions);
  values['flux-distribution'] ??= 'flux-distribution';
  return {
    kubeconfigSecretPrefix: needed(variables, 'KUBECONFIG_SECRET_PREFIX'),
    clusterAudiencePrefix: variables.CLUSTER_AUDIENCE_PREFIX || undefined,
    logLevel: values['log-level'],
    settings: settingsOf(values, values.seed ?? [], variables),
  };
}

/** Returns the prefix of every queue's URL, for example `https://sqs.eu-west-1.amazonaws.com/1234/shoot-flux-prod-`. */
export function readQueueUrlPrefix(variables: Variables): string {
  return needed(variables, 'QUEUE_URL_PREFIX');
}

function needed(variables: Variables, name: string): string {
  const value = variables[name];
  if (value) return value;
  throw new ShootFluxError(`Environment variable ${name} is not set; see serverless.yml.`);
}

/** Reads the config file of the package, which is JSON: a parser of YAML slows every cold start. */
async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'it is not JSON' : fileProblem(error);
    throw new ShootFluxError(`cannot read ${path}, which CONFIG names: ${problem}.`);
  }
}
