import { isSsh } from '../../shared/config/checks.ts';
import { effectiveConfig, projectLayers } from '../../shared/config/effective-config.ts';
import { fluxConfigRepository, type Repository } from '../../shared/config/flux-config.ts';
import { type FluxConfigMap, fluxConfigMapOf, fluxConfigObject } from '../../shared/config/flux-config-map.ts';
import type { Origins } from '../../shared/config/origins.ts';
import { hostKeyIssues, sourceIssues } from '../../shared/config/policy/judge.ts';
import type { Policy } from '../../shared/config/policy/policy.ts';
import { FLUX_CONFIG, projectSecretNames } from '../../shared/config/project-config.ts';
import { projectSecretOf } from '../../shared/config/project-secret-content.ts';
import type { Landscape } from '../../shared/config/types.ts';
import { variablesIn, withPlaceholders } from '../../shared/config/variables.ts';
import { ConfigError, type ConfigIssue, RetryableError, unlessInvalid, withFullStop } from '../../shared/errors.ts';
import { CREATION_REFUSED, CreationRefusedError } from '../../shared/gardener/creation-refused.ts';
import { type Notice, warning } from '../../shared/gardener/event.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { generateIdentity } from '../../shared/ssh/identity.ts';
import { sshHost } from '../../shared/ssh/known-hosts.ts';
import { missingCredentials } from './credentials.ts';
import { type Decision, decide, HOST_KEY_TRUSTED } from './decide.ts';
import { operationOf, operationRefused } from './pairs.ts';
import {
  type ConfigMap,
  checkStillRequested,
  contentOf,
  findSecret,
  type Run,
  removeOperation,
  report,
  type SourceSecret,
  writeSecret,
} from './project-objects.ts';
import { pushNotices } from './push-token.ts';
import { scanHostKey } from './scan.ts';
import { scanPolicy } from './scan-policy.ts';

/** The pause after a scan that found no key, or a refused Secret: each attempt takes a run for seconds. */
const RETRY_SECONDS = { least: 60, most: 1800 } as const;

/**
 * Ensures that a private repository has its credentials, and reports on the ConfigMap what the user has to do. A run whose
 * ConfigMap or Secret has changed since it was read fails, and is repeated.
 */
export const handler: Handler = async (key, context) => {
  const garden = await context.kube(key.cluster);
  const { namespace } = key;
  const configMap = await garden.find<ConfigMap>(resources.configMaps, key);
  if (configMap === undefined || configMap.metadata.deletionTimestamp !== undefined) return done;
  const { operation, notices } = operationOf(namespace, configMap.metadata.annotations);
  const run = { garden, configMap, context, namespace, operation };
  if (context.endedBefore !== undefined) throw await reportEnded(run, context.endedBefore);
  await report(run, [...notices, ...(await checkProjectSecrets(run)), ...(await pushNotices(run))]);

  const config = fluxConfigMapOf(namespace, configMap);
  await reportIssues(run, 'InvalidConfiguration', projectLayers(config, undefined).issues);
  const repository = unlessInvalid(() => fluxConfigRepository(config));
  // Reported above. A requested operation waits until the configuration is valid.
  if (repository instanceof ConfigError) return done;
  const refusals = refusalsOf(context.settings, config, repository);
  await reportIssues(run, 'NotAllowed', refusals.issues);
  if (refusals.isRepository) return done;

  if (repository?.type === 'private' && isSsh(repository.url)) return completeSecret(run, repository);
  const needed = repository?.type === 'private' ? await missingInSecret(run, repository) : [];
  const why = 'there is no key pair to rotate; set repositoryType to private and use an ssh:// URL';
  const refused = operation === undefined ? [] : [operationRefused(namespace, operation, why)];
  return finish(run, { notices: [...needed, ...refused] });
};

/** Last: a run that is killed before this point repeats everything, which changes nothing. */
async function finish(run: Run, { notices, retry }: Decision): Promise<Outcome> {
  const age = await report(run, notices);
  await removeOperation(run);
  return retry ? requeueAfter(retrySeconds(age)) : done;
}

/** Says why the last run was ended, and returns the same as an error: the next attempt does the work again. */
async function reportEnded(run: Run, endedBefore: string): Promise<RetryableError> {
  const message = `Reading ConfigMap ${run.namespace}/${FLUX_CONFIG} and its Secrets ${endedBefore}, so it was ended; simplify them.`;
  await report(run, [warning('InvalidConfiguration', message)]);
  return new RetryableError(message);
}

/** Reports why there are no credentials. A Secret that members create wakes this function. */
async function reportRefusal(run: Run, error: CreationRefusedError): Promise<Outcome> {
  const age = await report(run, [warning(CREATION_REFUSED, error.message)]);
  run.context.log.warn('flux-source not created', { error: describeError(error) });
  return requeueAfter(retrySeconds(age));
}

/** Waits twice as long each time, as long as the Event of the failure exists. */
function retrySeconds(age: number): number {
  return Math.round(Math.min(RETRY_SECONDS.most, Math.max(RETRY_SECONDS.least, age)));
}

async function reportIssues(run: Run, reason: string, issues: ConfigIssue[]): Promise<void> {
  if (issues.length > 0) await report(run, [warning(reason, withFullStop(new ConfigError(issues).message))]);
}

async function missingInSecret(run: Run, repository: Repository): Promise<Notice[]> {
  const secret = await findSecret(run);
  const notice = missingCredentials(run.namespace, secret && contentOf(secret), repository);
  return notice === undefined ? [] : [notice];
}

async function completeSecret(run: Run, repository: Repository): Promise<Outcome> {
  const secret = await findSecret(run);
  // Its deletion wakes this function again. A requested operation waits, also where the Secret cannot be created.
  if (secret?.metadata.deletionTimestamp !== undefined) return done;
  await checkStillRequested(run);
  const decision = await decideOnSecret(run, repository, secret);
  if (decision.change !== undefined) {
    // Before the key is trusted: a run that is killed in between could find another configuration when it is repeated.
    const ofTrust = decision.notices.filter(({ reason }) => reason === HOST_KEY_TRUSTED);
    await report(run, ofTrust);
    try {
      await writeSecret(run, secret, decision.change);
    } catch (error) {
      if (error instanceof CreationRefusedError) return reportRefusal(run, error);
      throw error;
    }
  }
  return finish(run, decision);
}

function decideOnSecret(
  { namespace, context: { settings, signal }, operation }: Run,
  repository: Repository,
  live: SourceSecret | undefined,
): Promise<Decision> {
  const policy = scanPolicy(settings.hostKeyScan);
  const secret = live && {
    data: contentOf(live),
    annotations: live.metadata.annotations ?? {},
    immutable: live.immutable === true,
  };
  const isScanOff = !policy.isOn || settings.policy?.allowHostKeyScan === false;
  const { landscape } = settings;
  return decide(
    { namespace, landscape, repository, operation, secret, isScanOff },
    {
      newIdentity: () => generateIdentity(repository.sshKeyType, signal),
      scanHostKey: () => scanHostKey(sshHost(repository.url), { policy, signal }),
    },
  );
}

/**
 * Returns what the landscape's policy and addons refuse in `flux-config` alone, and whether that is the repository: then
 * it gets no key pair, and its host is not contacted. The repository is judged also where other keys are wrong, because
 * those do not keep it from getting a key pair.
 */
function refusalsOf(landscape: Landscape, fluxConfig: FluxConfigMap, repository: Repository | undefined) {
  const { policy = {} } = landscape;
  const object = fluxConfigObject(fluxConfig.namespace);
  const origins = { 'source.spec.url': { object, path: 'repositoryUrl' } };
  const ofUrl = repository === undefined ? [] : urlIssues(policy, repository.url, origins);
  const ofHostKeys = hostKeyIssues(policy, repository?.knownHosts, object);
  const merged = unlessInvalid(() => effectiveConfig({ landscape, fluxConfig }));
  const others = (merged instanceof ConfigError ? merged.issues : []).filter(
    (issue) =>
      issue.object === object && issue.rule !== undefined && !['repositoryUrl', 'knownHosts'].includes(issue.path),
  );
  return { issues: [...ofUrl, ...ofHostKeys, ...others], isRepository: ofUrl.length > 0 };
}

/** Each Shoot has its own values in the path of a URL with variables, which its own runs judge; the host is the same. */
function urlIssues(policy: Policy, url: string, origins: Origins): ConfigIssue[] {
  const judged = (by: Policy) => sourceIssues(by, 'GitRepository', { url: withPlaceholders(url) }, origins);
  const mayBeAllowed = variablesIn(url).length > 0 && judged({ ...policy, ...withoutPaths(policy) }).length === 0;
  return mayBeAllowed ? [] : judged(policy);
}

function withoutPaths({ allowedRepositoryUrls }: Policy): Pick<Policy, 'allowedRepositoryUrls'> {
  const ofHost = (pattern: string) => pattern.replace(/^((?:[^/]+:\/\/)?[^/]+).*$/, '$1/**');
  return allowedRepositoryUrls === undefined ? {} : { allowedRepositoryUrls: allowedRepositoryUrls.map(ofHost) };
}

/** Checks the other Secrets of the project that exist, as each of its Shoots does. */
async function checkProjectSecrets({ garden, namespace }: Run): Promise<Notice[]> {
  const notices = await Promise.all(
    projectSecretNames.map(async (name) => {
      const secret = await garden.find(resources.secrets, { namespace, name });
      const problem = secret && projectSecretOf(name, namespace, secret).problem;
      return problem === undefined ? [] : [warning('InvalidSecret', `Secret ${namespace}/${name} ${problem}.`)];
    }),
  );
  return notices.flat();
}
