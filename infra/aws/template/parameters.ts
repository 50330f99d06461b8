import { ShootFluxError } from '../../../shared/errors.ts';
import { serviceAccountUser } from '../../gardener/rbac.ts';

/** A user of which namespace and name are at least partly fixed: any other one would trust all of a cluster. */
const SUBJECT = /^system:serviceaccount:[*?.-]*[a-z0-9][a-z0-9.*?-]*:[*?.-]*[a-z0-9][a-z0-9.*?-]*$/;

/** Parameters of a deployment (`--param NAME=VALUE`) that decide which resources there are; the others are variables. */
export interface Parameters {
  /** Names of the seeds that the deployment serves. */
  seeds: string[];
  /** How functions authenticate to clusters. */
  clusterAccess: 'kubeconfig' | 'web-identity';
  /** Issuers of ServiceAccount tokens, without `https://`, whose watchers may send changes. */
  watcherIssuers: string[];
  /** Their ServiceAccounts, as a pattern of IAM. */
  watcherSubject: string;
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
    watcherSubject: subject((await text('watcherSubject')) || serviceAccountUser('watcher')),
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

function subject(pattern: string): string {
  if (SUBJECT.test(pattern)) return pattern;
  throw new ShootFluxError(
    `--param watcherSubject=${pattern} must be system:serviceaccount:NAMESPACE:NAME; each of them may contain *, but not be only *.`,
  );
}
