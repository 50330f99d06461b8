import { ShootFluxError } from '../../../shared/errors.ts';

/** Parameters of a deployment (`--param NAME=VALUE`) that decide which resources there are; the others are variables. */
export interface Parameters {
  /** Names of the seeds that the deployment serves. */
  seeds: string[];
  /** How functions authenticate to clusters. */
  clusterAccess: 'kubeconfig' | 'web-identity';
  /** Issuers of ServiceAccount tokens, without `https://`, whose watchers may send changes. */
  watcherIssuers: string[];
  /** False: the account has the identity providers of these issuers already. */
  createsProviders: boolean;
  /** ARN of the SNS topic that alarms notify. */
  alarmTopic?: string | undefined;
}

/** Looks a parameter up as osls does. */
export type Resolve = (variable: string) => Promise<unknown>;

/** Reads the parameters of a deployment. @throws ShootFluxError that names the wrong parameter */
export async function readParameters(resolve: Resolve): Promise<Parameters> {
  const text = async (name: string) => String((await resolve(`param:${name}, ''`)) ?? '').trim();
  const list = async (name: string) => (await text(name)).split(',').flatMap((entry) => entry.trim() || []);
  const choice = async <T extends string>(name: string, values: readonly [T, ...T[]]): Promise<T> => {
    const value = (await text(name)) || values[0];
    const known = values.find((candidate) => candidate === value);
    if (known !== undefined) return known;
    throw new ShootFluxError(`--param ${name}=${value} must be one of ${values.join(', ')}.`);
  };
  return {
    seeds: await list('seeds'),
    clusterAccess: await choice('clusterAccess', ['kubeconfig', 'web-identity']),
    watcherIssuers: (await list('watcherIssuers')).map(issuerName),
    createsProviders: (await choice('watcherProviders', ['create', 'existing'])) === 'create',
    alarmTopic: (await text('alarmTopic')) || undefined,
  };
}

/** The name by which IAM knows an issuer: its URL without the scheme. */
function issuerName(url: string): string {
  const name = /^https:\/\/([^\s?#]+?)\/?$/.exec(url)?.[1];
  if (name !== undefined) return name;
  throw new ShootFluxError(`--param watcherIssuers=${url} must be https URLs with commas between.`);
}
