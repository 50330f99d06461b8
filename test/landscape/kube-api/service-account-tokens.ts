import { randomUUID } from 'node:crypto';
import type { Answer, Call, User } from './call.ts';
import { asObject, type Json } from './json.ts';
import { getObject } from './reads.ts';

/** Handles POST of `serviceaccounts/<name>/token`: returns a token that this server accepts from now on. */
export function createToken(call: Call, users: Map<string, User>): Answer {
  const account = getObject(call);
  const { namespace = '', name } = account.metadata;
  const token = `sa-${randomUUID()}`;
  users.set(token, {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  });
  const spec = asObject(asObject(call.body).spec);
  const seconds = Number(spec.expirationSeconds ?? 3600);
  const status: Json = { token, expirationTimestamp: new Date(Date.now() + seconds * 1000).toISOString() };
  return {
    code: 201,
    body: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace },
      spec: { ...spec, expirationSeconds: seconds },
      status,
    },
  };
}
