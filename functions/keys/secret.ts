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

/** The values as the API server takes them. */
export function encoded(data: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
