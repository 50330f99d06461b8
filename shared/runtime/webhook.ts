import type { AdmissionAnswer, AdmissionRequest } from '../kube/admission.ts';
import type { Resource } from '../kube/resource.ts';
import type { Context } from './context.ts';
import type { FunctionBasics } from './definition.ts';

/** As in a webhook configuration. */
export interface LabelSelector {
  matchLabels: Record<string, string>;
}

/** A webhook, as in a webhook configuration. */
export interface Webhook {
  /** Which API server calls: the garden's, or that of every seed. */
  in: 'garden' | 'seed';
  /** Mutating: the answer may change the object. */
  type: 'Validating' | 'Mutating';
  /** Where it is served, for example `/admission`. */
  path: string;
  resource: Resource;
  operations: ('CREATE' | 'UPDATE')[];
  /** Applies when no answer arrives, and when the function fails. */
  failurePolicy: 'Fail' | 'Ignore';
  objectSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  /** CEL expressions by name. */
  matchConditions?: Record<string, string>;
}

/** A function that answers an API server's requests instead of taking changes from a queue. */
export interface WebhookDefinition extends FunctionBasics {
  webhook: Webhook;
}

/** Everything that such a function may use besides the request. */
export type WebhookContext = Pick<Context, 'kube' | 'log' | 'signal'> & {
  settings: Pick<Context['settings'], 'seeds' | 'defaults' | 'policy' | 'addons'>;
};

/** Answers one request; `handler` in `functions/<name>/handler.ts`. */
export type WebhookHandler = (request: AdmissionRequest, context: WebhookContext) => Promise<AdmissionAnswer>;

/** A call of a Git host. */
export interface PushCall {
  /** That of a project, which may not exist. */
  namespace: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** Refused: the caller has not proved who it is, or the project takes no pushes, or does not exist. */
export type PushResult = 'accepted' | 'refused' | 'failed';

/** Takes a call of a Git host; `handler` in `functions/<name>/handler.ts`. */
export type PushHandler = (call: PushCall, context: Pick<Context, 'kube' | 'now' | 'log'>) => Promise<PushResult>;
