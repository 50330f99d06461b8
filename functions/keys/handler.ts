import { readFluxConfig } from '../../shared/config/flux-config.ts';
import { fluxConfigRepository, type Repository } from '../../shared/config/repository.ts';
import { FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { AlreadyExistsError, ConflictError, NotFoundError } from '../../shared/kube/errors.ts';
import { apiVersionOf, type KubeObject, resources } from '../../shared/kube/resource.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import { ConfigError, RetryableError } from '../../shared/runtime/errors.ts';
import { done, requeueAfter } from '../../shared/runtime/outcome.ts';
import { sshHost } from '../../shared/ssh/host.ts';
import { generateIdentity } from '../../shared/ssh/key-pair.ts';
import { scanHostKey } from '../../shared/ssh/scan-host-key.ts';
import { missingCredentials } from './credentials.ts';
import { type Decision, decide, type SecretChange, type Situation } from './decide.ts';
import { eventOf } from './event.ts';
import { type Notice, warning } from './notice.ts';
import { contents, encoded, type SourceSecret } from './secret.ts';

const fieldManager = 'shoot-flux-keys';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** Makes sure that a private repository has its credentials, and says on the ConfigMap what a person has to do. */
export const handler: Handler = async (key, context) => {
  const garden = await context.kube(key.cluster);
  const configMap = await garden.find<ConfigMap>(resources.configMaps, key);
  if (configMap === undefined || configMap.metadata.deletionTimestamp !== undefined) return done;
  const run = { garden, configMap, context, namespace: key.namespace };

  const config = { namespace: key.namespace, data: configMap.data ?? {} };
  const { issues } = readFluxConfig(config);
  if (issues.length > 0) await tell(run, [warning('InvalidConfiguration', new ConfigError(issues).message)]);
  const repository = repositoryOf(config);
  if (repository?.type !== 'private') return done;
  if (!repository.url.startsWith('ssh://')) {
    await checkCredentials(run);
    return done;
  }
  const { notices, retry } = await completeSecret(run, repository);
  await tell(run, notices);
  return retry ? requeueAfter(RETRY_SECONDS) : done;
};

/** How soon a host that showed no key is asked again. */
const RETRY_SECONDS = 60;

interface Run {
  garden: KubeClient;
  configMap: ConfigMap;
  context: Context;
  namespace: string;
}

/** Undefined also when these keys are wrong, which the issues have told by then. */
function repositoryOf(config: { namespace: string; data: Record<string, string> }): Repository | undefined {
  try {
    return fluxConfigRepository(config);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

async function checkCredentials(run: Run): Promise<void> {
  const secret = await findSecret(run);
  const missing = missingCredentials(run.namespace, secret && contents(secret));
  if (missing !== undefined) await tell(run, [missing]);
}

type Decided = Extract<Decision, { type: 'decided' }>;

const ATTEMPTS = 5;

/** Somebody else may write the Secret at the same time: then it is read and judged again. */
async function completeSecret(run: Run, repository: Repository): Promise<Decided> {
  const supplies: Pick<Situation, 'identity' | 'scanned'> = {};
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const secret = await findSecret(run);
    // Its deletion, when it comes, wakes us again.
    if (secret?.metadata.deletionTimestamp !== undefined) return { type: 'decided', notices: [], retry: false };
    const decided = await decideWith(run, repository, secret, supplies);
    if (decided.change === undefined || (await write(run, secret, decided.change))) return decided;
  }
  throw new RetryableError(
    `Secret ${run.namespace}/${FLUX_SOURCE}: changed again and again while it was written; it is tried again.`,
  );
}

/** Makes and asks what the decision needs, once for all attempts. */
async function decideWith(
  { namespace, context }: Run,
  repository: Repository,
  secret: SourceSecret | undefined,
  supplies: Pick<Situation, 'identity' | 'scanned'>,
): Promise<Decided> {
  const { landscape } = context.settings;
  const known = secret && {
    data: contents(secret),
    annotations: secret.metadata.annotations ?? {},
    immutable: secret.immutable === true,
  };
  for (;;) {
    const decision = decide({ namespace, landscape, repository, secret: known, ...supplies });
    if (decision.type === 'decided') return decision;
    if (decision.what === 'identity') supplies.identity = await generateIdentity(repository.sshKeyType);
    else supplies.scanned = await scanned(repository, context);
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

function findSecret({ garden, namespace }: Run): Promise<SourceSecret | undefined> {
  return garden.find<SourceSecret>(resources.secrets, { namespace, name: FLUX_SOURCE });
}

/** False when the Secret is no longer what was judged. */
async function write(
  { garden, namespace, context }: Run,
  secret: SourceSecret | undefined,
  change: SecretChange,
): Promise<boolean> {
  const name = { namespace, name: FLUX_SOURCE };
  const { annotations } = change;
  const data = encoded(change.data);
  try {
    if (secret === undefined) {
      await garden.create(resources.secrets, newSecret(namespace, data, annotations), { fieldManager });
    } else {
      const { uid, resourceVersion } = secret.metadata;
      await garden.mergePatch(
        resources.secrets,
        name,
        { metadata: { uid, resourceVersion, annotations }, data },
        { fieldManager },
      );
    }
  } catch (error) {
    if (error instanceof AlreadyExistsError || error instanceof ConflictError || error instanceof NotFoundError)
      return false;
    throw error;
  }
  context.log.info('Secret flux-source completed', { written: Object.keys(data).join(',') });
  return true;
}

function newSecret(
  namespace: string,
  data: Record<string, string>,
  annotations: SecretChange['annotations'],
): SourceSecret {
  const set = Object.entries(annotations).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return {
    apiVersion: apiVersionOf(resources.secrets),
    kind: resources.secrets.kind,
    metadata: { namespace, name: FLUX_SOURCE, annotations: Object.fromEntries(set) },
    type: 'Opaque',
    data,
  };
}

/** Each notice once for a ConfigMap: what was told already costs one read and no write. */
async function tell({ garden, configMap, context }: Run, notices: Notice[]): Promise<void> {
  for (const notice of notices) {
    const event = eventOf(configMap, notice, context.now());
    if ((await garden.find(resources.events, event.metadata, { metadataOnly: true })) !== undefined) continue;
    try {
      await garden.create(resources.events, event, { fieldManager });
    } catch (error) {
      if (!(error instanceof AlreadyExistsError)) throw error;
    }
  }
}
