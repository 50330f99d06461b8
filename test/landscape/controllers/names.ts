import type { ObjectName } from '../client/client.ts';

/** Returns `namespace/name`, or `name` for cluster-scoped objects. */
export function objectText({ namespace, name }: ObjectName): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** Reverses `objectText`. */
export function nameOf(text: string): ObjectName {
  const [first = '', second] = text.split('/');
  return second === undefined ? { name: first } : { namespace: first, name: second };
}
