import type { WebhookHandler } from '../../shared/runtime/webhook.ts';
import { decide, leftAlone } from './decide.ts';
import { readLayers } from './read.ts';
import { wantedOf } from './wanted.ts';

export const handler: WebhookHandler = async (request, context) => {
  const answer = leftAlone(request);
  if (answer !== undefined) return answer;
  const { layers, doubts } = await readLayers(request.namespace ?? '', context);
  return decide(request, wantedOf(layers, doubts));
};
