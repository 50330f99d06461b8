import { apiVersionOf, type KubeObject } from '../../shared/kube/resource.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Webhook, WebhookDefinition } from '../../shared/runtime/webhook.ts';
import { TIMEOUT_SECONDS } from '../webhooks/answer.ts';
import { CONFIGURATION, NAMESPACE, SERVICE, SERVICE_HOST } from '../webhooks/names.ts';
import { configurations } from '../webhooks/publish.ts';

/** Generates the webhook configurations of a cluster, one for each type; the serving process fills in the caBundle. */
export function webhookObjects(
  definitions: WebhookDefinition[],
  place: 'garden' | 'seed',
  clientConfig: (webhook: Webhook) => object = defaultClientConfig,
): KubeObject[] {
  const here = definitions.filter(({ webhook }) => webhook.in === place);
  return (['Validating', 'Mutating'] as const)
    .map((type) => ({ type, matching: here.filter(({ webhook }) => webhook.type === type) }))
    .filter(({ matching }) => matching.length > 0)
    .map(({ type, matching }) => ({
      apiVersion: apiVersionOf(configurations[type]),
      kind: configurations[type].kind,
      metadata: {
        name: CONFIGURATION,
        // Excludes it from Gardener's remediation of slow webhooks, which is meant for those of users (rule 6).
        labels: { 'remediation.webhook.shoot.gardener.cloud/exclude': 'true' },
      },
      webhooks: matching.map(({ name, webhook }) => entry(name, webhook, clientConfig)),
    }));
}

/** A virtual garden has no pods behind its Services; its API server runs in another cluster and resolves names there. */
function defaultClientConfig({ in: place, path }: Webhook): object {
  if (place === GARDEN) return { url: `https://${SERVICE_HOST}${path}` };
  return { service: { name: SERVICE, namespace: NAMESPACE, path, port: 443 } };
}

function entry(name: string, webhook: Webhook, clientConfig: (webhook: Webhook) => object): object {
  const { resource, operations, failurePolicy, namespaceSelector, objectSelector, matchConditions } = webhook;
  const conditions = Object.entries(matchConditions ?? {});
  return {
    name: `${name}.shoot-flux.extensions.gardener.cloud`,
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(webhook),
    rules: [
      {
        apiGroups: [resource.group],
        apiVersions: [resource.version],
        operations,
        resources: [resource.plural],
        scope: resource.namespaced ? 'Namespaced' : 'Cluster',
      },
    ],
    matchPolicy: 'Exact',
    ...(namespaceSelector && { namespaceSelector }),
    ...(objectSelector && { objectSelector }),
    ...(conditions.length > 0 && {
      matchConditions: conditions.map(([condition, expression]) => ({ name: condition, expression })),
    }),
    failurePolicy,
    sideEffects: 'None',
    timeoutSeconds: TIMEOUT_SECONDS,
  };
}
