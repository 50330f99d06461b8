import type { WebhookHandler } from '../../shared/runtime/webhook.ts';
import { decide } from './decide.ts';

export const handler: WebhookHandler = async (request, { settings: { defaults, policy } }) =>
  decide(request, { defaults, policy });
