import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Log } from '../../shared/runtime/log.ts';
import type { PushWebhook, WebhookFunction } from '../functions.ts';
import {
  type AnswerDependencies,
  answererOf,
  type HttpAnswer,
  MAX_BYTES,
  sentenceAnswer,
  timeLimit,
  tooLong,
} from '../webhooks/answer.ts';
import { isAllowed, type PathTokens, pathTokensOf, TOKEN_HASHES } from '../webhooks/path-token.ts';
import { PUSH_PATH, pushAnswerer } from '../webhooks/push.ts';
import { madeOnce } from './made-once.ts';

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

const notFound = sentenceAnswer(404, 'Not found.');

/** Returns the `handler` of a webhook's bundle. Its URL is public, so the path has to end with a token. */
export function webhookHandler(webhook: WebhookFunction): HttpHandler {
  return httpLambda(webhook.definition.name, (dependencies) => {
    const tokens = tokensOf(process.env, dependencies.log);
    const answer = answererOf(webhook, dependencies);
    return async (event) => {
      const path = event.rawPath ?? event.path ?? '';
      if (tokens === undefined || !isAllowed(tokens, path.split('/').at(-1) ?? '')) return notFound;
      const body = bodyOf(event);
      return body.length > MAX_BYTES ? tooLong() : answer(body, timeLimit());
    };
  });
}

/** Returns the `handler` of the bundle that answers Git hosts, at a function URL or HTTP API. */
export function pushHandler(webhook: PushWebhook): HttpHandler {
  return httpLambda(webhook.definition.name, (dependencies) => {
    const answer = pushAnswerer(webhook, dependencies);
    return async (event) => {
      const { rawPath = '', headers = {} } = event;
      return rawPath.startsWith(PUSH_PATH) ? answer(rawPath, { headers, body: bodyOf(event) }, timeLimit()) : notFound;
    };
  });
}

function httpLambda(name: string, create: (dependencies: AnswerDependencies) => Answer): HttpHandler {
  return madeOnce(name, (dependencies) => {
    const answer = create(dependencies);
    return async (event) => {
      const { status, contentType, body } = await answer(event);
      return { statusCode: status, headers: { 'content-type': contentType }, body };
    };
  });
}

function bodyOf({ body, isBase64Encoded }: HttpEvent): Buffer {
  return Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
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
