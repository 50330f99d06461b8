import { fieldsAt, parsedJson, textAt } from '../shapes.ts';

/** One operation of a JSON patch (RFC 6902); this product only adds. */
export interface JsonPatchOperation {
  op: 'add';
  /** JSON pointer, for example `/spec/template/spec/containers/0/args/-`. */
  path: string;
  value: unknown;
}

/** The request that an API server sends before it stores an object; `object` and `oldObject` are not validated. */
export interface AdmissionRequest {
  uid: string;
  operation: string;
  namespace?: string | undefined;
  name?: string | undefined;
  /** The new object; absent for a deletion. */
  object?: unknown;
  /** The stored object; absent for a creation. */
  oldObject?: unknown;
}

/** One mistake, in the form of a `v1` Status. */
export interface Cause {
  /** Path within the object. */
  field: string;
  message: string;
}

/** The answer. Warnings reach the client even if the request is allowed. */
export type AdmissionAnswer =
  | { allowed: true; patch?: JsonPatchOperation[]; warnings?: string[] }
  | { allowed: false; code: number; reason: string; message: string; details?: RefusalDetails };

/** Makes kubectl print a line for each cause. */
export interface RefusalDetails {
  group: string;
  kind: string;
  name: string;
  causes: Cause[];
}

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';

/** No name, namespace, operation or uid of Kubernetes is longer; they end up in logs. */
const LONGEST_NAME = 253;

/** Returns the request in the body that an API server posts, or one sentence about what is wrong with it. */
export function readReview(text: string): { request: AdmissionRequest } | { problem: string } {
  const review = parsedJson(text);
  if (review === undefined) return { problem: 'The body is not JSON: post an AdmissionReview.' };
  if (textAt(review, 'apiVersion') !== API_VERSION || textAt(review, 'kind') !== KIND) {
    return { problem: `The body is not an ${KIND} of ${API_VERSION}: list v1 in admissionReviewVersions.` };
  }
  const request = fieldsAt(review, 'request');
  if (request === undefined) return { problem: `The ${KIND} has no request: post one with a request.` };
  const [uid, operation = '', namespace, name] = ['uid', 'operation', 'namespace', 'name'].map((field) =>
    textAt(request, field),
  );
  if (!uid) return { problem: 'request.uid is not a string: every request needs a uid.' };
  if ([uid, operation, namespace, name].some((text) => text !== undefined && text.length > LONGEST_NAME))
    return { problem: `A name in the request is longer than ${LONGEST_NAME} characters.` };
  // An API server writes null for what is absent.
  const [object, oldObject] = [request.object ?? undefined, request.oldObject ?? undefined];
  return { request: { uid, operation, namespace, name, object, oldObject } };
}

/** Returns the AdmissionReview that carries an answer. */
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
    ...(patch.length > 0 && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
    ...(warnings.length > 0 && { warnings }),
  };
}
