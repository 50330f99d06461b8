import type { WebhookHandler } from '../../shared/runtime/webhook.ts';
import { decide } from './decide.ts';

/** Answers for a Shoot with the extension; a wrong `providerConfig` is refused with one sentence for each mistake. */
export const handler: WebhookHandler = async (request, { settings: { defaults, policy } }) =>
  decide(request, { defaults, policy });
