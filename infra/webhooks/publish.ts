import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Webhook } from '../../shared/runtime/webhook.ts';
import { CONFIGURATION } from './names.ts';

const group = 'admissionregistration.k8s.io';

/** The resources of webhook configurations by the type of their webhooks. */
export const configurations: Record<Webhook['type'], Resource> = {
  Validating: {
    group,
    version: 'v1',
    plural: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    namespaced: false,
  },
  Mutating: {
    group,
    version: 'v1',
    plural: 'mutatingwebhookconfigurations',
    kind: 'MutatingWebhookConfiguration',
    namespaced: false,
  },
};

export interface PublishOptions {
  kube(cluster: string): Promise<KubeClient>;
  webhooks: Pick<Webhook, 'in' | 'type'>[];
  seeds: readonly string[];
  configuration?: string | undefined;
}

/**
 * Publishes the authorities to all clusters in parallel, so that one that does not answer blocks no other.
 * @returns one sentence for each problem
 */
export async function publish(
  { kube, webhooks, seeds, configuration = CONFIGURATION }: PublishOptions,
  bundle: string,
): Promise<string[]> {
  const targets = new Map<string, { cluster: string; type: Webhook['type'] }>();
  for (const { in: place, type } of webhooks) {
    for (const cluster of place === GARDEN ? [GARDEN] : seeds) targets.set(`${cluster} ${type}`, { cluster, type });
  }
  const problems = await Promise.all(
    [...targets.values()].map(async ({ cluster, type }) => {
      try {
        if (await publishCaBundle(await kube(cluster), { type, name: configuration }, bundle)) return [];
        return [
          `${cluster} has no ${type}WebhookConfiguration ${configuration}, so it calls no webhook; apply its manifest.`,
        ];
      } catch (error) {
        return [`${cluster}: ${describeError(error)}`];
      }
    }),
  );
  return problems.flat();
}

interface WebhookConfiguration extends KubeObject {
  webhooks?: { clientConfig: { caBundle?: string } }[];
}

interface Target {
  type: Webhook['type'];
  name: string;
}

/**
 * Writes the authorities in `bundle` to a webhook configuration, unless it has them already.
 * @returns false when there is no configuration; the API server then calls no webhook
 */
async function publishCaBundle(client: KubeClient, { type, name }: Target, bundle: string): Promise<boolean> {
  const resource = configurations[type];
  const caBundle = Buffer.from(bundle).toString('base64');
  const live = await find(client, resource, name);
  if (live === undefined) return false;
  if (trusts(live, caBundle)) return true;
  const patch = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    // A list is patched as a whole: the resourceVersion protects concurrent changes.
    metadata: { resourceVersion: live.metadata.resourceVersion },
    webhooks: live.webhooks?.map((webhook) => ({ ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } })),
  };
  try {
    await client.mergePatch(resource, { name }, patch, { fieldManager: 'shoot-flux-webhooks' });
  } catch (error) {
    // Most likely another process of the deployment wrote the same. Any other change must not be overwritten.
    const isPublished = error instanceof ConflictError && trusts(await find(client, resource, name), caBundle);
    if (!isPublished) throw error;
  }
  return true;
}

function find(client: KubeClient, resource: Resource, name: string): Promise<WebhookConfiguration | undefined> {
  return client.find<WebhookConfiguration>(resource, { name });
}

function trusts(configuration: WebhookConfiguration | undefined, caBundle: string): boolean {
  return (configuration?.webhooks ?? []).every(({ clientConfig }) => clientConfig.caBundle === caBundle);
}
