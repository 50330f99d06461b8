import type { JsonPatchOperation } from './json-patch.ts';

/** What an API server asks before it stores an object; `object` and `oldObject` are as they came. */
export interface AdmissionRequest {
  uid: string;
  operation: string;
  namespace?: string | undefined;
  name?: string | undefined;
  /** What is to be stored; absent for a deletion. */
  object?: unknown;
  /** What is stored now; absent for a creation. */
  oldObject?: unknown;
}

/** One thing that is wrong, in the form of a `v1` Status. */
export interface Cause {
  /** Path within the object. */
  field: string;
  message: string;
}

/** What is answered. A warning reaches whoever sent the request, also where it is allowed. */
export type AdmissionAnswer =
  | { allowed: true; patch?: JsonPatchOperation[]; warnings?: string[] }
  | { allowed: false; code: number; reason: string; message: string; details?: RefusalDetails };

/** Lets kubectl print a line for each cause. */
export interface RefusalDetails {
  group: string;
  kind: string;
  name: string;
  causes: Cause[];
}

/** A request that was read, or one sentence about what is wrong with it. */
export type ReadReview = { request: AdmissionRequest } | { problem: string };

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';

/** Reads the body that an API server posts. Never throws. */
export function readReview(text: string): ReadReview {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    // The parser's message quotes the body, and a Shoot may hold what is nobody's business.
    return { problem: 'The body is no JSON: post an AdmissionReview.' };
  }
  if (!isObject(review) || review.apiVersion !== API_VERSION || review.kind !== KIND) {
    return { problem: `The body is no ${KIND} of ${API_VERSION}: list v1 in admissionReviewVersions.` };
  }
  const { request } = review;
  if (!isObject(request)) return { problem: `The ${KIND} has no request: post one with a request.` };
  const { uid, operation, namespace, name, object, oldObject } = request;
  if (typeof uid !== 'string' || uid === '') return { problem: 'request.uid is no text: every request needs a uid.' };
  return {
    request: {
      uid,
      operation: textOf(operation) ?? '',
      namespace: textOf(namespace),
      name: textOf(name),
      ...present({ object, oldObject }),
    },
  };
}

/** The AdmissionReview that carries an answer. */
export function reviewOf({ uid }: Pick<AdmissionRequest, 'uid'>, answer: AdmissionAnswer): object {
  return { apiVersion: API_VERSION, kind: KIND, response: { uid, ...responseOf(answer) } };
}

function responseOf(answer: AdmissionAnswer): object {
  if (!answer.allowed) {
    const { code, reason, message, details } = answer;
    return { allowed: false, status: { status: 'Failure', code, reason, message, ...(details && { details }) } };
  }
  const { patch = [], warnings = [] } = answer;
  return {
    allowed: true,
    ...(patch.length > 0 && { patchType: 'JSONPatch', patch: base64(JSON.stringify(patch)) }),
    ...(warnings.length > 0 && { warnings }),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** An API server writes null where there is nothing. */
function present(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
