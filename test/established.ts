import { entriesAt } from '../shared/shapes.ts';

/**
 * Whether an API server has accepted the names of this CustomResourceDefinition. It writes that into the status, and so
 * into the resourceVersion, a moment after the creation.
 */
export function isEstablished(crd: unknown): boolean {
  return entriesAt(crd, 'status', 'conditions').some(({ type, status }) => type === 'Established' && status === 'True');
}
