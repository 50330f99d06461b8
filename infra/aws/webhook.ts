import type { APIGatewayProxyEvent, APIGatewayProxyResult, LambdaFunctionURLEvent } from 'aws-lambda';
import { createLog } from '../../shared/runtime/log.ts';
import type { WebhookFunction } from '../functions.ts';
import { type AnswerDependencies, answer } from '../webhooks/answer.ts';
import { lambdaClusters } from './clusters.ts';
import { createEmfMetrics } from './emf.ts';
import { readEnvironment } from './settings.ts';

/** An event of a function URL, an HTTP API or a REST API; the fields that we read are the same. */
type HttpEvent =
  | Pick<LambdaFunctionURLEvent, 'body' | 'isBase64Encoded'>
  | Pick<APIGatewayProxyEvent, 'body' | 'isBase64Encoded'>;

/** Returns the `handler` that a webhook's bundle exports. Each webhook has its own URL, so the path is ignored. */
export function webhookHandler(webhook: WebhookFunction): (event: HttpEvent) => Promise<APIGatewayProxyResult> {
  const metrics = createEmfMetrics((line) => process.stdout.write(`${line}\n`));
  let dependencies: AnswerDependencies | undefined;
  return async ({ body, isBase64Encoded }) => {
    dependencies ??= { ...dependenciesOf(webhook.definition.name, process.env), metrics };
    const text = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8').toString('utf8');
    const given = await answer(webhook, text, dependencies);
    metrics.flush();
    return { statusCode: given.status, headers: { 'content-type': given.contentType }, body: given.body };
  };
}

function dependenciesOf(name: string, variables: NodeJS.ProcessEnv): Omit<AnswerDependencies, 'metrics'> {
  const { settings, kubeconfigSecretPrefix, logLevel } = readEnvironment(variables);
  return { settings, kube: lambdaClusters(name, kubeconfigSecretPrefix, variables), log: createLog(logLevel) };
}
