import { errorMessage, type KubeClient, type KubeObject } from '../client/client.ts';
import type { Discovery } from '../controllers/discovery.ts';
import { objectText } from '../controllers/names.ts';
import { inInstallOrder } from '../resource-manager/install-order.ts';
import { groupOf } from '../resource-manager/references.ts';
import { inNamespace } from './kustomize-build.ts';
import { FluxFailure, type FluxObject } from './status.ts';

/** An entry of the inventory. */
export interface Entry {
  /** `namespace_name_group_kind` */
  id: string;
  v: string;
}

export interface Kustomization extends FluxObject {
  spec: FluxObject['spec'] & {
    sourceRef: { kind: string; name: string; namespace?: string };
    path?: string;
    prune?: boolean;
    targetNamespace?: string;
  };
  status?: NonNullable<FluxObject['status']> & {
    inventory?: { entries: Entry[] };
    lastAppliedRevision?: string;
    lastAttemptedRevision?: string;
  };
}

export const group = 'kustomize.toolkit.fluxcd.io';
export const fieldManager = 'kustomize-controller';

/** Applies the objects of a Kustomization, and prunes those of its inventory. */
export function createApplier(client: KubeClient, discovery: Discovery) {
  const owner = ({ metadata }: Kustomization) => ({
    [`${group}/name`]: metadata.name,
    [`${group}/namespace`]: metadata.namespace ?? '',
  });
  return {
    async apply(objects: KubeObject[], kustomization: Kustomization) {
      const entries: Entry[] = [];
      for (const { object } of inInstallOrder(objects.map((object) => ({ object })))) {
        const resource = await discovery.find(object.apiVersion, object.kind);
        if (resource === undefined) {
          throw new FluxFailure(
            'ReconciliationFailed',
            `${object.kind}/${object.metadata.name} dry-run failed: no matches for kind "${object.kind}" in version "${object.apiVersion}"`,
          );
        }
        const { targetNamespace } = kustomization.spec;
        const placed = place(object, resource.namespaced, targetNamespace);
        const labels = { ...placed.metadata.labels, ...owner(kustomization) };
        const wanted = { ...placed, metadata: { ...placed.metadata, labels } };
        try {
          await client.apply(resource, wanted, { fieldManager });
        } catch (error) {
          throw new FluxFailure(
            'ReconciliationFailed',
            `${object.kind}/${objectText(wanted.metadata)} dry-run failed: ${errorMessage(error)}`,
          );
        }
        entries.push(entryOf(wanted));
      }
      return entries;
    },

    async prune(entries: readonly Entry[], kustomization: Kustomization): Promise<void> {
      for (const { id, v } of entries.toReversed()) {
        const [namespace = '', name = '', group = '', kind = ''] = id.split('_');
        const resource = await discovery.find(group === '' ? v : `${group}/${v}`, kind);
        const object = { name, ...(namespace === '' ? {} : { namespace }) };
        const live = resource && (await client.find(resource, object));
        if (resource === undefined || live === undefined || !mayPrune(live, owner(kustomization))) continue;
        await client.delete(resource, object, { propagationPolicy: 'Background' });
      }
    },
  };
}

function place(object: KubeObject, namespaced: boolean, targetNamespace: string | undefined): KubeObject {
  if (targetNamespace !== undefined && namespaced) return inNamespace(object, targetNamespace);
  if (!namespaced) {
    const { namespace: _, ...metadata } = object.metadata;
    // A Namespace in the source is renamed (docs/flux-facts.md, Kustomizations).
    const renamed = object.kind === 'Namespace' && targetNamespace !== undefined ? { name: targetNamespace } : {};
    return { ...object, metadata: { ...metadata, ...renamed } };
  }
  return object.metadata.namespace === undefined ? inNamespace(object, 'default') : object;
}

function mayPrune({ metadata }: KubeObject, owner: Record<string, string>): boolean {
  const marks = { ...metadata.labels, ...metadata.annotations };
  if (marks[`${group}/prune`] === 'disabled') return false;
  return Object.entries(owner).every(([key, value]) => metadata.labels?.[key] === value);
}

function entryOf({ apiVersion, kind, metadata }: KubeObject): Entry {
  const id = [metadata.namespace ?? '', metadata.name, groupOf(apiVersion), kind].join('_');
  return { id, v: apiVersion.split('/').at(-1) ?? '' };
}
