import { ApiError } from './errors.ts';

/** A creation that a webhook is asked about. */
export interface Creation {
  user: string;
  group: string;
  /** The resource, for example `secrets`. */
  plural: string;
  /** Empty for cluster-scoped objects. */
  namespace: string;
}

/** A validating webhook for creations: of objects, not of subresources. */
export interface CreationWebhook {
  name: string;
  /** Returns why it is denied; undefined: it is not. */
  deny(creation: Creation): string | undefined;
}

/** @throws ApiError as an API server words the answer of a webhook, which gives no reason of its own */
export function askWebhooks(webhooks: readonly CreationWebhook[], creation: Creation): void {
  for (const { name, deny } of webhooks) {
    const why = deny(creation);
    if (why !== undefined) throw new ApiError(403, '', `admission webhook "${name}" denied the request: ${why}`);
  }
}
