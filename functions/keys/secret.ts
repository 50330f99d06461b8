import type { KubeObject } from '../../shared/kube/resource.ts';

/** The Secret `flux-source` as the API server gives it. */
export interface SourceSecret extends KubeObject {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
  immutable?: boolean;
}

/** What is in the Secret, as text; keys without a value are left out. */
export function contents(secret: SourceSecret | undefined): Record<string, string> {
  const entries = Object.entries(secret?.data ?? {}).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64').toString('utf8'),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value?.trim() !== ''));
}

/** The values as the API server takes them; `null` for a key that goes. */
export function encoded(data: Record<string, string | null>): Record<string, string | null> {
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, value === null ? null : Buffer.from(value).toString('base64')]),
  );
}

/** What is set, without what goes: for an object that is not there yet. */
export function present(values: Record<string, string | null>): Record<string, string> {
  const set = Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  return Object.fromEntries(set);
}
