import type { ConfigIssue } from '../../errors.ts';
import { issueAt } from '../place.ts';
import { shown } from '../quote.ts';
import type { FluxInstall } from '../types.ts';
import { asObject } from '../values.ts';
import { linksOf } from './links.ts';
import type { PlacedObject } from './merge.ts';

/** Kinds that act with the rights of an account. */
const ACTING: ReadonlySet<string> = new Set(['Kustomization', 'HelmRelease']);

/** Returns the issues with the namespaces of listed objects: the same rules as for the root pair. */
export function namespaceIssues(objects: readonly PlacedObject[], flux: FluxInstall): ConfigIssue[] {
  return objects.flatMap((placed) => [...watchedIssues(placed, flux), ...tenancyIssues(placed, flux)]);
}

/** Controllers that watch only their own namespace ignore objects elsewhere. */
function watchedIssues({ object, place }: PlacedObject, flux: FluxInstall): ConfigIssue[] {
  if (flux.watchAllNamespaces || object.metadata.namespace === flux.namespace) return [];
  const message = `must be ${flux.namespace}, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true`;
  return [issueAt(place, 'metadata.namespace', message)];
}

/** With multi-tenancy, the controllers read no object of another namespace, and act as an account of the namespace. */
function tenancyIssues({ object, place }: PlacedObject, flux: FluxInstall): ConfigIssue[] {
  if (flux.multiTenancy !== true) return [];
  const { namespace } = object.metadata;
  const { serviceAccountName, kubeConfig } = asObject(object.spec) ?? {};
  const issues = linksOf(object)
    .filter((link) => link.namespace !== namespace)
    .map((link) =>
      issueAt(
        place,
        link.path,
        `names an object in namespace ${shown(link.namespace)}, which multiTenancy does not permit; use one in ${namespace}`,
      ),
    );
  const needsAccount = ACTING.has(object.kind) && namespace !== flux.namespace;
  if (needsAccount && serviceAccountName === undefined && kubeConfig === undefined) {
    const message = `is missing, which multiTenancy requires outside of ${flux.namespace}; name a ServiceAccount that may apply the objects`;
    issues.push(issueAt(place, 'spec.serviceAccountName', message));
  }
  return issues;
}
