import type { AdmissionAnswer, AdmissionRequest } from '../kube/admission.ts';
import type { Resource } from '../kube/resource.ts';
import type { Context } from './context.ts';
import type { FunctionBasics } from './definition.ts';

/** As in a webhook configuration. */
export interface LabelSelector {
  matchLabels: Record<string, string>;
}

/** What an API server asks, as the webhook configuration says it. */
export interface Webhook {
  /** Whose API server asks: the garden's, or that of every seed. */
  in: 'garden' | 'seed';
  /** Whether the answer may change the object. */
  type: 'Validating' | 'Mutating';
  /** Where it is served, for example `/admission`. */
  path: string;
  resource: Resource;
  operations: ('CREATE' | 'UPDATE')[];
  /** What counts where no answer comes, and where the function itself fails. */
  failurePolicy: 'Fail' | 'Ignore';
  objectSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  /** CEL; by their names. */
  matchConditions?: Record<string, string>;
}

/** A function that answers an API server's requests instead of taking changes from a queue; else like any other. */
export interface WebhookDefinition extends FunctionBasics {
  webhook: Webhook;
}

/** What such a function may use besides the request. */
export type WebhookContext = Pick<Context, 'kube' | 'log' | 'signal'> & {
  settings: Pick<Context['settings'], 'seeds'>;
};

/** Answers one request; `handler` in `functions/<name>/handler.ts`. */
export type WebhookHandler = (request: AdmissionRequest, context: WebhookContext) => Promise<AdmissionAnswer>;
