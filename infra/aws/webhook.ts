import type { APIGatewayProxyResult } from 'aws-lambda';
import { createLog, type Log } from '../../shared/runtime/log.ts';
import type { PushWebhook, WebhookFunction } from '../functions.ts';
import { answererOf, type HttpAnswer, MAX_BYTES, sentenceAnswer, timeLimit, tooLong } from '../webhooks/answer.ts';
import { isAllowed, type PathTokens, pathTokensOf, TOKEN_HASHES } from '../webhooks/path-token.ts';
import { PUSH_PATH, pushAnswerer } from '../webhooks/push.ts';
import { lambdaClusters } from './clusters.ts';
import { createEmfMetrics } from './emf.ts';
import { readEnvironment } from './settings.ts';

/** The fields of an event of a function URL or HTTP API (`rawPath`), or of a REST API (`path`), that we read. */
interface HttpEvent {
  headers?: Record<string, string | undefined>;
  rawPath?: string;
  path?: string;
  body?: string | null;
  isBase64Encoded: boolean;
}

type Answer = (event: HttpEvent) => Promise<HttpAnswer>;
type HttpHandler = (event: HttpEvent) => Promise<APIGatewayProxyResult>;

/** Returns the `handler` of a webhook's bundle. Its URL is public, so the path has to end with a token. */
export function webhookHandler(webhook: WebhookFunction): HttpHandler {
  return madeOnce(() => make(webhook, process.env));
}

/** Returns the `handler` of the bundle that answers Git hosts, at a function URL or HTTP API. */
export function pushHandler(webhook: PushWebhook): HttpHandler {
  return madeOnce(() => makePush(webhook, process.env));
}

function madeOnce(create: () => Promise<Answer>): HttpHandler {
  let made: Promise<Answer> | undefined;
  return async (event) => {
    made ??= create();
    const { status, contentType, body } = await (await made)(event);
    return { statusCode: status, headers: { 'content-type': contentType }, body };
  };
}

const notFound = sentenceAnswer(404, 'Not found.');

async function makePush(webhook: PushWebhook, variables: NodeJS.ProcessEnv): Promise<Answer> {
  const environment = await readEnvironment(variables);
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  const kube = lambdaClusters(webhook.definition.name, environment, variables);
  const answer = pushAnswerer(webhook, { kube, log: createLog(environment.logLevel), metrics });
  return async (event) => {
    const path = event.rawPath ?? '';
    if (!path.startsWith(PUSH_PATH)) return notFound;
    const given = await answer(path, { headers: event.headers ?? {}, body: bodyOf(event) }, timeLimit());
    metrics.flush();
    return given;
  };
}

function bodyOf({ body, isBase64Encoded }: HttpEvent): Buffer {
  return Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
}

async function make(webhook: WebhookFunction, variables: NodeJS.ProcessEnv): Promise<Answer> {
  const environment = await readEnvironment(variables);
  const log = createLog(environment.logLevel);
  const tokens = tokensOf(variables, log);
  if (tokens === undefined) return async () => notFound;
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  const kube = lambdaClusters(webhook.definition.name, environment, variables);
  const answer = answererOf(webhook, { settings: environment.settings, kube, log, metrics });
  return async (event) => {
    const path = event.rawPath ?? event.path ?? '';
    if (!isAllowed(tokens, path.split('/').at(-1) ?? '')) return notFound;
    const body = bodyOf(event);
    if (body.length > MAX_BYTES) return tooLong();
    const given = await answer(body, timeLimit());
    metrics.flush();
    return given;
  };
}

/** Returns undefined, and says so in the log, when the tokens are not configured: then nothing is answered. */
function tokensOf(variables: NodeJS.ProcessEnv, log: Log): PathTokens | undefined {
  const text = variables[TOKEN_HASHES];
  if (text) return pathTokensOf(`Environment variable ${TOKEN_HASHES}`, text);
  log.error('webhook token not set', {
    error: `Environment variable ${TOKEN_HASHES} is not set, so every request is refused; deploy with --param webhookTokenSha256=HASH.`,
  });
  return undefined;
}
