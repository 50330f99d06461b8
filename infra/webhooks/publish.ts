import type { KubeClient } from '../../shared/kube/client.ts';
import { describeError } from '../../shared/runtime/describe-error.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { Webhook } from '../../shared/runtime/webhook.ts';
import { publishCaBundle } from './ca-bundle.ts';
import { CONFIGURATION } from './names.ts';

export interface PublishOptions {
  kube(cluster: string): Promise<KubeClient>;
  /** The webhooks whose configurations get the authority. */
  webhooks: Pick<Webhook, 'in' | 'type'>[];
  seeds: readonly string[];
  /** Name of the webhook configurations. */
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
