import type { WebhookHandler } from '../../shared/runtime/webhook.ts';
import { decide, leaveUnchanged } from './decide.ts';
import { readLayers } from './read.ts';
import { targetNamespacesOf } from './target-namespaces.ts';

/** A name as Kubernetes permits it for a namespace. */
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const NO_NAMESPACE = 'shoot-flux: request.namespace is not the name of a namespace; nothing was added';

/** Adds the namespaces of Flux to the arguments of a resource-manager that supports it. */
export const handler: WebhookHandler = async (request, context) => {
  const unchanged = leaveUnchanged(request);
  if (unchanged !== undefined) return unchanged;
  const namespace = request.namespace ?? '';
  // A request of an API server always has one; nothing else is asked for.
  if (!NAMESPACE.test(namespace)) return { allowed: true, warnings: [NO_NAMESPACE] };
  const { layers, warnings } = await readLayers(namespace, context);
  // Where a policy refuses the configuration, the resource-manager still may write to its namespaces.
  const landscape = { defaults: context.settings.defaults };
  return decide(request, targetNamespacesOf({ ...layers, landscape }, warnings));
};
