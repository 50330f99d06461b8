import type { WebhookHandler } from '../../shared/runtime/webhook.ts';
import { decide } from './decide.ts';
import { loadPatchRules } from './patch-rules.ts';

export const handler: WebhookHandler = async (request, { settings: { defaults, policy } }) =>
  decide(request, { defaults, policy }, await loadPatchRules(request.object));
