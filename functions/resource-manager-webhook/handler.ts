import type { WebhookHandler } from '../../shared/runtime/webhook.ts';
import { decide, leaveUnchanged } from './decide.ts';
import { readLayers } from './read.ts';
import { targetNamespacesOf } from './target-namespaces.ts';

/** Adds the namespaces of Flux to the arguments of a resource-manager that supports it. */
export const handler: WebhookHandler = async (request, context) => {
  const unchanged = leaveUnchanged(request);
  if (unchanged !== undefined) return unchanged;
  const { layers, warnings } = await readLayers(request.namespace ?? '', context);
  return decide(request, targetNamespacesOf(layers, warnings));
};
