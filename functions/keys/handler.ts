import { readFluxConfig } from '../../shared/config/flux-config.ts';
import { type FluxConfigMap, fluxConfigMapOf } from '../../shared/config/flux-config-map.ts';
import { fluxConfigRepository, type Repository } from '../../shared/config/repository.ts';
import { ConfigError, RetryableError } from '../../shared/errors.ts';
import { FLUX_CONFIG, FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { done, type Outcome, requeueAfter } from '../../shared/runtime/outcome.ts';
import { sshHost } from '../../shared/ssh/host.ts';
import { isStillAsked, removeOperation, tell } from './config-map.ts';
import { missingCredentials } from './credentials.ts';
import { type Decision, decide } from './decide.ts';
import { type Notice, warning } from './notice.ts';
import { operationOf, refused } from './operation.ts';
import type { ConfigMap, Run } from './run.ts';
import { contents, type SourceSecret } from './secret.ts';
import type { Need, Situation } from './situation.ts';
import { generateIdentity } from './ssh/key-pair.ts';
import { scanHostKey } from './ssh/scan-host-key.ts';
import { findSecret, writeSecret } from './write.ts';

const ATTEMPTS = 5;

/** Makes sure that a private repository has its credentials, and says on the ConfigMap what a person has to do. */
export const handler: Handler = async (key, context) => {
  const garden = await context.kube(key.cluster);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const outcome = await once(garden, key, context);
    if (outcome !== 'overtaken') return outcome;
  }
  throw new RetryableError(
    `ConfigMap ${key.namespace}/${FLUX_CONFIG} and Secret ${FLUX_SOURCE}: changed again and again while they were read; it is tried again.`,
  );
};

/** Somebody else may write ConfigMap or Secret at the same time: then both are read and judged again. */
async function once(garden: KubeClient, key: ReconcileKey, context: Context): Promise<Outcome | 'overtaken'> {
  const { namespace } = key;
  const configMap = await garden.find<ConfigMap>(resources.configMaps, key);
  if (configMap === undefined || configMap.metadata.deletionTimestamp !== undefined) return done;
  const { operation, notices } = operationOf(namespace, configMap.metadata.annotations);
  const run = { garden, configMap, context, namespace, operation };
  await tell(run, notices);

  const config = fluxConfigMapOf(namespace, configMap);
  const { issues } = readFluxConfig(config);
  if (issues.length > 0) await tell(run, [warning('InvalidConfiguration', new ConfigError(issues).message)]);
  const repository = repositoryOf(config);
  // What is asked for is done when the configuration makes sense.
  if (repository === 'invalid') return done;
  const decided = await carryOut(run, repository);
  if (decided === 'overtaken') return 'overtaken';
  if (decided === 'leaving') return done;
  await tell(run, decided.notices);
  // Last: whoever is killed before does all of it again, which changes nothing.
  if (!(await removeOperation(run))) return 'overtaken';
  return decided.retry ? requeueAfter(RETRY_SECONDS) : done;
}

/** How soon a host that showed no key is asked again. */
const RETRY_SECONDS = 60;

/** `invalid`: these keys are wrong, which the issues have told by then. */
function repositoryOf(config: FluxConfigMap): Repository | 'invalid' | undefined {
  try {
    return fluxConfigRepository(config);
  } catch (error) {
    if (error instanceof ConfigError) return 'invalid';
    throw error;
  }
}

type Decided = Extract<Decision, { type: 'decided' }>;

async function carryOut(run: Run, repository: Repository | undefined): Promise<Decided | 'overtaken' | 'leaving'> {
  if (repository?.type === 'private' && repository.url.startsWith('ssh://')) return completeSecret(run, repository);
  const { namespace, operation } = run;
  const missing = repository?.type === 'private' ? await missingInSecret(run) : undefined;
  const remedy = 'only a key pair for repositoryType private with an ssh:// URL is rotated here';
  const notices = [
    ...(missing === undefined ? [] : [missing]),
    ...(operation === undefined ? [] : [refused(namespace, operation, remedy)]),
  ];
  return { type: 'decided', notices, retry: false };
}

async function missingInSecret(run: Run): Promise<Notice | undefined> {
  const secret = await findSecret(run);
  return missingCredentials(run.namespace, secret && contents(secret));
}

async function completeSecret(run: Run, repository: Repository): Promise<Decided | 'overtaken' | 'leaving'> {
  const secret = await findSecret(run);
  // Its deletion, when it comes, wakes us again.
  if (secret?.metadata.deletionTimestamp !== undefined) return 'leaving';
  if (!(await isStillAsked(run))) return 'overtaken';
  const decided = await decideWith(run, repository, secret);
  const { change } = decided;
  return change === undefined || (await writeSecret(run, secret, change)) ? decided : 'overtaken';
}

/** Makes and asks what the decision needs. */
async function decideWith(
  { namespace, context, operation }: Run,
  repository: Repository,
  secret: SourceSecret | undefined,
): Promise<Decided> {
  const { landscape } = context.settings;
  const known = secret && {
    data: contents(secret),
    annotations: secret.metadata.annotations ?? {},
    immutable: secret.immutable === true,
  };
  const supplies: Pick<Situation, Need> = {};
  for (;;) {
    const decision = decide({ namespace, landscape, repository, operation, secret: known, ...supplies });
    if (decision.type === 'decided') return decision;
    if (decision.what === 'scanned') supplies.scanned = await scanned(repository, context);
    else supplies[decision.what] = await generateIdentity(repository.sshKeyType);
  }
}

async function scanned(repository: Repository, context: Context): Promise<Situation['scanned']> {
  try {
    return await scanHostKey(sshHost(repository.url), context.signal);
  } catch (error) {
    if (error instanceof RetryableError) return 'nothing';
    throw error;
  }
}
