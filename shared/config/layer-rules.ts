import type { ConfigIssue } from '../errors.ts';
import type { Root } from './complete.ts';
import { pathOfPart } from './layer.ts';
import { issueAt, type Origins, originOf } from './origins.ts';
import { quote } from './quote.ts';
import { resourceProblem } from './shoot-resources.ts';

/** Returns the issues that concern several layers, or several parts of one. */
export function layerIssues(merged: Root): ConfigIssue[] {
  if (merged.layers.some(({ isRead }) => !isRead)) return [];
  return [
    ...pairIssues(merged),
    ...componentIssues(merged),
    ...namespaceIssues(merged),
    ...tenancyIssues(merged),
    ...optionIssues(merged),
    ...sourceRefIssues(merged),
    ...secretResourceIssues(merged),
    ...secretNameIssues(merged),
  ];
}

/** A source needs a Kustomization and vice versa, in any layers. */
function pairIssues({ layers }: Root): ConfigIssue[] {
  const hasSource = layers.some(({ sets }) => sets.source);
  const [half] = layers.filter(({ sets }) => sets.source || sets.kustomization);
  if (half === undefined || hasSource === layers.some(({ sets }) => sets.kustomization)) return [];
  return hasSource
    ? [
        issueAt(
          half,
          'kustomization',
          'is missing, but a source is configured; add a kustomization with at least template.spec.path',
        ),
      ]
    : [
        issueAt(
          half,
          'source',
          'is missing, but a kustomization is configured; add a source, or set repositoryUrl in the ConfigMap flux-config',
        ),
      ];
}

/** The controllers of the configured objects must be installed. */
function componentIssues({ layers, flux }: Root): ConfigIssue[] {
  const hasSource = layers.some(({ sets }) => sets.source);
  const layer = layers.find(({ content }) => content.flux.components !== undefined);
  if (!hasSource || layer === undefined) return [];
  return ['source-controller', 'kustomize-controller']
    .filter((required) => !flux.components.includes(required))
    .map((required) => ({
      ...originOf(layer.origins, 'flux.components'),
      message: `lacks ${required}, which the configured source and Kustomization need; add ${required}`,
    }));
}

/** Controllers that watch only their own namespace ignore objects elsewhere. */
function namespaceIssues({ flux, source, kustomization, sourceFrom, kustomizationFrom }: Root): ConfigIssue[] {
  if (flux.watchAllNamespaces) return [];
  const parts = [
    { part: pathOfPart(sourceFrom, 'source'), made: source, layer: sourceFrom },
    { part: pathOfPart(kustomizationFrom, 'kustomization'), made: kustomization, layer: kustomizationFrom },
  ];
  return parts
    .filter(({ made }) => made !== undefined && made.metadata.namespace !== flux.namespace)
    .map(({ part, layer }) =>
      issueAt(
        layer,
        `${part}.template.metadata.namespace`,
        `must be ${flux.namespace}, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true`,
      ),
    );
}

/** With multi-tenancy, a Kustomization reads no source of another namespace, and acts as an account of its own. */
function tenancyIssues({ flux, source, kustomization, origins }: Root): ConfigIssue[] {
  if (flux.multiTenancy !== true || source === undefined || kustomization === undefined) return [];
  const { sourceRef, serviceAccountName, kubeConfig } = kustomization.spec as {
    sourceRef: { namespace?: string };
    serviceAccountName?: string;
    kubeConfig?: object;
  };
  const { namespace } = kustomization.metadata;
  const issues: ConfigIssue[] = [];
  const ofSource = sourceRef.namespace ?? namespace ?? '';
  if (ofSource !== namespace) issues.push(sourceNamespaceIssue(origins, ofSource, namespace ?? ''));
  if (serviceAccountName === undefined && kubeConfig === undefined && namespace !== flux.namespace) {
    const message = `is missing, which multiTenancy requires outside of ${flux.namespace}; name a ServiceAccount that may apply the objects`;
    issues.push({ ...originOf(origins, 'kustomization.spec.serviceAccountName'), message });
  }
  return issues;
}

/** Names the namespace that users can change: `main-ks` of `flux-config` has a fixed one. */
function sourceNamespaceIssue(origins: Origins, ofSource: string, ofKustomization: string): ConfigIssue {
  const isPatched = origins['kustomization.spec.sourceRef'] !== undefined;
  if (!isPatched && origins.kustomization !== undefined) {
    const message = `must be ${ofSource}, the namespace of its source, because multiTenancy is true`;
    return { ...originOf(origins, 'kustomization.metadata.namespace'), message };
  }
  const place = originOf(origins, isPatched ? 'kustomization.spec.sourceRef.namespace' : 'source.metadata.namespace');
  return {
    ...place,
    message: `must be ${ofKustomization}, the namespace of the Kustomization, because multiTenancy is true`,
  };
}

/** Options that need another one, or exclude it. */
function optionIssues({ flux, kustomization, origins }: Root): ConfigIssue[] {
  const { tenantDefaultServiceAccount: account, multiTenancy, proxy, sopsAgeSecret } = flux;
  const issues: ConfigIssue[] = [];
  const report = (path: string, message: string) => issues.push({ ...originOf(origins, path), message });
  if (account !== undefined && multiTenancy !== true) {
    report(
      'flux.tenantDefaultServiceAccount',
      'has no effect without multiTenancy; set multiTenancy to true, or remove it',
    );
  }
  if (proxy?.secretName !== undefined && (proxy.http ?? proxy.https) !== undefined) {
    report('flux.proxy.secretName', 'excludes http and https, which the Secret contains; remove them or secretName');
  }
  if (sopsAgeSecret !== undefined && kustomization === undefined) {
    report(
      'flux.sopsAgeSecret',
      'has no effect without a Kustomization; configure a source and a kustomization, or remove it',
    );
  }
  return issues;
}

/** A sourceRef with the source's name but another kind would wait forever. */
function sourceRefIssues({ source, kustomization, origins }: Root): ConfigIssue[] {
  if (source === undefined || kustomization === undefined) return [];
  const { sourceRef } = kustomization.spec as { sourceRef: { kind: string; name: string; namespace?: string } };
  const sameName = sourceRef.name === source.metadata.name;
  const sameNamespace = (sourceRef.namespace ?? kustomization.metadata.namespace) === source.metadata.namespace;
  if (!sameName || !sameNamespace || sourceRef.kind === source.kind) return [];
  const message = `${quote(sourceRef.kind)} is not the kind of the configured source; use ${source.kind} or omit sourceRef`;
  return [{ ...originOf(origins, 'kustomization.spec.sourceRef.kind'), message }];
}

/** The credentials must not replace the landscape's pull secret. */
function secretNameIssues({ source, flux, sourceFrom }: Root): ConfigIssue[] {
  const name = (source?.spec as { secretRef?: { name?: string } } | undefined)?.secretRef?.name;
  const isTaken = name !== undefined && name === flux.landscapePullSecret;
  if (!isTaken || source?.metadata.namespace !== flux.namespace) return [];
  const message = `${quote(name)} is already taken by the landscape's pull secret; use another name`;
  return [issueAt(sourceFrom, `${pathOfPart(sourceFrom, 'source')}.template.spec.secretRef.name`, message)];
}

function secretResourceIssues({ sourceFrom, shootResources }: Root): ConfigIssue[] {
  const { secretResourceName } = sourceFrom;
  const message =
    secretResourceName === undefined ? undefined : resourceProblem(secretResourceName, 'credentials', shootResources);
  return message === undefined
    ? []
    : [issueAt(sourceFrom, `${pathOfPart(sourceFrom, 'source')}.secretResourceName`, message)];
}
