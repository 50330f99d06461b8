import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { apiVersionOf, type KubeObject, type Resource } from '../../shared/kube/resource.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Webhook } from '../../shared/runtime/webhook.ts';
import { CONFIGURATION } from './names.ts';

const configuration = (type: Webhook['type']): Resource => ({
  ...{ group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false },
  plural: `${type.toLowerCase()}webhookconfigurations`,
  kind: `${type}WebhookConfiguration`,
});

/** The resources of webhook configurations by the type of their webhooks. */
export const configurations: Record<Webhook['type'], Resource> = {
  Validating: configuration('Validating'),
  Mutating: configuration('Mutating'),
};

export interface PublishOptions {
  kube(cluster: string): Promise<KubeClient>;
  webhooks: Pick<Webhook, 'in' | 'type'>[];
  seeds: readonly string[];
  configuration?: string | undefined;
}

/** Publishes the authorities to all clusters in parallel. @returns one sentence for each problem */
export async function publish(
  { kube, webhooks, seeds, configuration: name = CONFIGURATION }: PublishOptions,
  bundle: string,
): Promise<string[]> {
  const targets = new Map<string, { cluster: string; type: Webhook['type'] }>();
  for (const { in: place, type } of webhooks) {
    for (const cluster of place === GARDEN ? [GARDEN] : seeds) targets.set(`${cluster} ${type}`, { cluster, type });
  }
  const problems = await Promise.all(
    [...targets.values()].map(async ({ cluster, type }) => {
      try {
        if (await publishCaBundle(await kube(cluster), configurations[type], name, bundle)) return [];
        return [`${cluster} has no ${type}WebhookConfiguration ${name}, so it calls no webhook; apply its manifest.`];
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

/** Writes the authorities to a webhook configuration. @returns false when there is none: it is then never called */
async function publishCaBundle(client: KubeClient, resource: Resource, name: string, bundle: string): Promise<boolean> {
  const caBundle = Buffer.from(bundle).toString('base64');
  const find = () => client.find<WebhookConfiguration>(resource, { name });
  const live = await find();
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
    const isPublished = error instanceof ConflictError && trusts(await find(), caBundle);
    if (!isPublished) throw error;
  }
  return true;
}

function trusts(configuration: WebhookConfiguration | undefined, caBundle: string): boolean {
  return (configuration?.webhooks ?? []).every(({ clientConfig }) => clientConfig.caBundle === caBundle);
}
