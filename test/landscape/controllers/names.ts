import type { ObjectName } from '../client/client.ts';

/** `namespace/name`, or `name` for what is cluster-scoped. */
export function objectText({ namespace, name }: ObjectName): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** The reverse of `objectText`. */
export function nameOf(text: string): ObjectName {
  const [first = '', second] = text.split('/');
  return second === undefined ? { name: first } : { namespace: first, name: second };
}
