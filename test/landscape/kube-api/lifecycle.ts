import type { Definition } from './definition.ts';
import { forbidden, notFound } from './errors.ts';
import { asObject } from './json.ts';
import type { Registry } from './registry.ts';

const immortal = new Set(['default', 'kube-system', 'kube-public']);

/** Rejects new objects of a CRD that is being deleted. */
export function checkServed(definition: Definition, name: string): void {
  if (!definition.terminating) return;
  throw forbidden(definition, name, 'create not allowed while custom resource definition is terminating');
}

/** Rejects new objects in namespaces that do not exist or are being deleted. */
export function checkNamespaceOpen(registry: Registry, definition: Definition, namespace: string, name: string): void {
  const namespaces = registry.get('', 'v1', 'namespaces');
  const found = namespaces.store.get(namespace);
  if (found === undefined) throw notFound(namespaces, namespace);
  if (asObject(found.status).phase !== 'Terminating') return;
  throw forbidden(
    definition,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** Rejects the deletion of some namespaces. */
export function checkMortal(definition: Definition, name: string): void {
  if (definition.custom || definition.plural !== 'namespaces' || !immortal.has(name)) return;
  throw forbidden(definition, name, 'this namespace may not be deleted');
}
