import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { FUNCTION_TIMEOUT_SECONDS } from '../../events/run/deadline.ts';
import { BATCH_SIZE, delayDefinition } from '../../events/sqs/queues.ts';
import { ShootFluxError } from '../../shared/errors.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { WebhookDefinition } from '../../shared/runtime/webhook.ts';
import { type AnyDefinition, findDefinitions, findWebhookDefinitions } from '../functions.ts';
import { alarms } from './template/alarms.ts';
import { arn, logicalId, type Named, PREFIX } from './template/cloudformation.ts';
import { type Parameters, type Resolve, readParameters } from './template/parameters.ts';
import { queues, queueUrlPrefix } from './template/queues.ts';
import { AUDIENCE_PREFIX, role, secretPrefix } from './template/roles.ts';
import { watcherResources } from './template/watcher.ts';

/** The generated parts of serverless.yml: a Lambda for each function, with its queues or URL, its role and its alarms. */
export interface ServerlessParts {
  /** The file with defaults and policy, where the package has one: a deployment without them is never an oversight. */
  config: string;
  functions: Record<string, object>;
  resources: { Resources: Record<string, object>; Outputs: Record<string, object> };
}

/** Generates the parts of serverless.yml that follow from the functions' definitions. */
export async function serverlessParts(resolve: Resolve): Promise<ServerlessParts> {
  const parameters = await readParameters(resolve);
  const { seeds, clusterAccess, watcherIssuers } = parameters;
  const definitions = [...(await findDefinitions()), delayDefinition].sort((a, b) => (a.name < b.name ? -1 : 1));
  const webhooks = await findWebhookDefinitions();
  const all = [...definitions, ...webhooks];
  const region = await resolve("opt:region, env:AWS_REGION, 'eu-central-1'");
  const start = [await resolve("param:prefix, 'shoot-flux'"), await resolve('sls:stage'), region].join('-');
  checkRoleNames(
    `${start}-`,
    all.map(({ name }) => name),
  );
  const lambdas = await Promise.all([
    ...definitions.map((definition) => queueLambda(definition, parameters, resolve)),
    ...webhooks.map((definition) => webhookLambda(definition, parameters)),
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
  const { environment, ...common } = lambda(definition, parameters);
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
      ...common,
      ...(reserved !== '' && { reservedConcurrency: reserved }),
      environment: { ...environment, QUEUE_URL_PREFIX: queueUrlPrefix },
      package: { patterns: [`dist/functions/${definition.name}/**`, 'dist/flux-distribution/**', LANDSCAPE] },
      events: [{ sqs }],
    },
  ];
}

/**
 * API servers cannot sign for IAM, so the URL is public: it is served only with the token whose hash is set, and callers
 * without it cannot use more of the account than the reserved concurrency.
 */
function webhookLambda(definition: WebhookDefinition, parameters: Parameters): Named {
  const { environment, ...common } = lambda(definition, parameters);
  return [
    definition.name,
    {
      ...common,
      environment: { ...environment, WEBHOOK_TOKEN_SHA256: `\${param:webhookTokenSha256, ''}` },
      reservedConcurrency: `\${param:webhookConcurrency, 20}`,
      package: { patterns: [`dist/functions/${definition.name}/**`, LANDSCAPE] },
      url: true,
    },
  ];
}

/** The properties that all Lambdas share. */
function lambda({ name, description }: AnyDefinition, { clusterAccess }: Parameters) {
  return {
    name: `${PREFIX}${name}`,
    description,
    handler: `dist/functions/${name}/index.handler`,
    timeout: FUNCTION_TIMEOUT_SECONDS,
    role: arn(`${logicalId(name)}Role`),
    environment: {
      KUBECONFIG_SECRET_PREFIX: secretPrefix(name, clusterAccess),
      ...(clusterAccess === 'web-identity' && { CLUSTER_AUDIENCE_PREFIX: AUDIENCE_PREFIX }),
    },
  };
}

/** Defaults and policy of the landscape, where there are some, from the root of the package. */
const LANDSCAPE = 'dist/landscape.json';

/** Returns the path of this file if the folder has it, else an empty text. Default: the folder of the checkout. */
export function packagedLandscape(folder = new URL('../../../', import.meta.url)): string {
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
