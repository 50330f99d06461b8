import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FUNCTION_TIMEOUT_SECONDS } from '../../events/run.ts';
import { BATCH_SIZE, delayDefinition } from '../../events/sqs/queues.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { type AnyDefinition, findDefinitions, findWebhookDefinitions, pushDefinition } from '../functions.ts';
import { serviceAccountUser } from '../gardener/rbac.ts';
import { alarms } from './alarms.ts';
import {
  AUDIENCE_PREFIX,
  arn,
  logicalId,
  type Named,
  PREFIX,
  queues,
  queueUrlPrefix,
  role,
  secretPrefix,
  watcherResources,
} from './resources.ts';

/** Generates the parts of serverless.yml that follow from the functions: Lambdas with queues or URLs, roles, alarms. */
export async function serverlessParts(resolve: Resolve) {
  const parameters = await readParameters(resolve);
  const { seeds, clusterAccess, watcherIssuers } = parameters;
  const definitions = [...(await findDefinitions()), delayDefinition].sort((a, b) => (a.name < b.name ? -1 : 1));
  const webhooks = await findWebhookDefinitions();
  const pushes = parameters.takesPushes ? [pushDefinition] : [];
  const all = [...definitions, ...webhooks, ...pushes];
  const region = await resolve("opt:region, env:AWS_REGION, 'eu-central-1'");
  const start = [await resolve("param:prefix, 'shoot-flux'"), await resolve('sls:stage'), region].join('-');
  const names = all.map(({ name }) => name);
  checkRoleNames(`${start}-`, names);
  const lambdas = await Promise.all([
    ...definitions.map((definition) => queueLambda(definition, parameters, resolve)),
    ...webhooks.map((definition) => urlLambda(definition, parameters, TOKENS)),
    ...pushes.map((definition) => urlLambda(definition, parameters)),
  ]);
  const resources = [
    ...definitions.flatMap((definition) => queues(definition, seeds)),
    ...all.map((definition) => role(definition, definitions, clusterAccess)),
    ...watcherResources(definitions, parameters),
    ...alarms(definitions, all, parameters),
  ];
  const outputs: Named[] = [
    ['QueueUrlPrefix', { Value: queueUrlPrefix }],
    ['WatcherPolicyArn', { Value: { Ref: 'WatcherPolicy' } }],
  ];
  if (watcherIssuers.length > 0) outputs.push(['WatcherRoleArn', { Value: arn('WatcherRole') }]);
  return {
    config: packagedLandscape(),
    functions: Object.fromEntries(lambdas),
    resources: { Resources: Object.fromEntries(resources), Outputs: Object.fromEntries(outputs) },
  };
}

async function queueLambda(definition: FunctionDefinition, parameters: Parameters, resolve: Resolve): Promise<Named> {
  const id = logicalId(definition.name);
  // Normally the limit of the queue is enough, and a reservation would take from the account what is not used.
  const reserved = await resolve(`param:reservedConcurrency${id}, param:reservedConcurrency, ''`);
  const sqs = {
    arn: arn(`${id}Queue`),
    batchSize: BATCH_SIZE,
    functionResponseType: 'ReportBatchItemFailures',
    // How much of the account's concurrency one function can take; one Lambda runs up to ten keys.
    maximumConcurrency: `\${param:maximumConcurrency${id}, param:maximumConcurrency, 10}`,
  };
  return [
    definition.name,
    {
      ...lambda(definition, parameters, { QUEUE_URL_PREFIX: queueUrlPrefix }, 'dist/flux-distribution/**'),
      ...(reserved !== '' && { reservedConcurrency: reserved }),
      events: [{ sqs }],
    },
  ];
}

const TOKENS = { WEBHOOK_TOKEN_SHA256: `\${param:webhookTokenSha256, ''}` };

/**
 * API servers and Git hosts cannot sign for IAM, so the URL is public: the reserved concurrency protects it, with a token
 * in its path, or the token of a project.
 */
function urlLambda(definition: AnyDefinition, parameters: Parameters, own: object = {}): Named {
  const reservedConcurrency = `\${param:webhookConcurrency, 20}`;
  return [definition.name, { ...lambda(definition, parameters, own), reservedConcurrency, url: true }];
}

/** @param own variables besides those that all have; @param files what it packs besides */
function lambda({ name, description }: AnyDefinition, { clusterAccess }: Parameters, own: object, ...files: string[]) {
  return {
    name: `${PREFIX}${name}`,
    description,
    handler: `dist/functions/${name}/index.handler`,
    timeout: FUNCTION_TIMEOUT_SECONDS,
    role: arn(`${logicalId(name)}Role`),
    environment: {
      KUBECONFIG_SECRET_PREFIX: secretPrefix(name, clusterAccess),
      ...(clusterAccess === 'web-identity' && { CLUSTER_AUDIENCE_PREFIX: AUDIENCE_PREFIX }),
      ...own,
    },
    package: { patterns: [`dist/functions/${name}/**`, ...files, LANDSCAPE] },
  };
}

/** Defaults and policy of the landscape, where there are some, from the root of the package. */
const LANDSCAPE = 'dist/landscape.json';

export const CHECKOUT = new URL('../../', import.meta.url);

/** Returns the path of this file if the folder has it, else an empty text. */
export function packagedLandscape(folder = CHECKOUT): string {
  return existsSync(fileURLToPath(new URL(LANDSCAPE, folder))) ? LANDSCAPE : '';
}

/** IAM takes so many characters. */
const LONGEST = 64;

/** @throws ShootFluxError when the name of a role would be too long, which AWS says only in the middle of a deployment */
export function checkRoleNames(start: string, functions: readonly string[]): void {
  const tooLong = functions.map((name) => `${start}${name}`).find((name) => name.length > LONGEST);
  if (tooLong === undefined) return;
  throw new ShootFluxError(
    `The role ${tooLong} would have ${tooLong.length} characters, and IAM takes ${LONGEST}; choose a shorter --param prefix or --stage.`,
  );
}

/** A user of which namespace and name are at least partly fixed: any other one would trust all of a cluster. */
const SUBJECT = /^system:serviceaccount:[*?.-]*[a-z0-9][a-z0-9.*?-]*:[*?.-]*[a-z0-9][a-z0-9.*?-]*$/;

/** Parameters of a deployment (`--param NAME=VALUE`) that decide which resources there are; the others are variables. */
export type Parameters = Awaited<ReturnType<typeof readParameters>>;

type Resolve = (variable: string) => Promise<unknown>;

/** Reads the parameters of a deployment. @throws ShootFluxError that names the wrong parameter */
export async function readParameters(resolve: Resolve) {
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
    /** How functions authenticate to clusters. */
    clusterAccess: await choice('clusterAccess', ['kubeconfig', 'web-identity']),
    /** Issuers of ServiceAccount tokens, without `https://`, whose watchers may send changes. */
    watcherIssuers: (await list('watcherIssuers')).map(issuerName),
    /** Their ServiceAccounts, as a pattern of IAM. */
    watcherSubject: subject((await text('watcherSubject')) || serviceAccountUser('watcher')),
    /** False: the account has the identity providers of these issuers already. */
    createsProviders: (await choice('watcherProviders', ['create', 'existing'])) === 'create',
    alarmTopic: (await text('alarmTopic')) || undefined,
    /** True: Git hosts may report pushes. */
    takesPushes: (await text('pushUrl')) !== '',
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
