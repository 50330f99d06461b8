import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { Layer } from './layer.ts';
import { originOf } from './origins.ts';
import { quote } from './quote.ts';
import { resourceProblem } from './shoot-resources.ts';
import type { ConfigInputs, FluxInstall } from './types.ts';

/** The layers, and the result of merging them as far as they are valid. */
export interface MergedLayers {
  fluxConfig: Layer;
  providerConfig: Layer;
  flux: FluxInstall;
  source: KubeObject | undefined;
  kustomization: KubeObject | undefined;
  shootResources: ConfigInputs['shootResources'];
}

/** Returns the issues that concern several layers, or several parts of one. */
export function layerIssues(merged: MergedLayers): ConfigIssue[] {
  if (!merged.fluxConfig.isRead || !merged.providerConfig.isRead) return [];
  return [
    ...pairIssues(merged),
    ...componentIssues(merged),
    ...namespaceIssues(merged),
    ...sourceRefIssues(merged),
    ...secretResourceIssues(merged),
  ];
}

/** A source needs a Kustomization and vice versa; the ConfigMap always sets both. */
function pairIssues({ fluxConfig, providerConfig }: MergedLayers): ConfigIssue[] {
  const { object, sets } = providerConfig;
  if (sets.source === sets.kustomization || fluxConfig.sets.source) return [];
  return sets.source
    ? [
        {
          object,
          path: 'kustomization',
          message: 'is missing, but a source is configured; add a kustomization with at least template.spec.path',
        },
      ]
    : [
        {
          object,
          path: 'source',
          message:
            'is missing, but a kustomization is configured; add a source, or set repositoryUrl in the ConfigMap flux-config',
        },
      ];
}

/** The controllers of the configured objects must be installed. */
function componentIssues({ fluxConfig, providerConfig, flux }: MergedLayers): ConfigIssue[] {
  const hasSource = fluxConfig.sets.source || providerConfig.sets.source;
  const layer = providerConfig.content.flux.components === undefined ? fluxConfig : providerConfig;
  if (!hasSource || layer.content.flux.components === undefined) return [];
  return ['source-controller', 'kustomize-controller']
    .filter((required) => !flux.components.includes(required))
    .map((required) => ({
      ...originOf(layer.origins, 'flux.components'),
      message: `lacks ${required}, which the configured source and Kustomization need; add ${required}`,
    }));
}

/** Controllers that watch only their own namespace ignore objects elsewhere. */
function namespaceIssues({ flux, source, kustomization, providerConfig }: MergedLayers): ConfigIssue[] {
  if (flux.watchAllNamespaces) return [];
  return Object.entries({ source, kustomization })
    .filter(([, object]) => object !== undefined && object.metadata.namespace !== flux.namespace)
    .map(([part]) => ({
      object: providerConfig.object,
      path: `${part}.template.metadata.namespace`,
      message: `must be ${flux.namespace}, because watchAllNamespaces is false; omit it or set watchAllNamespaces to true`,
    }));
}

/** A sourceRef with the source's name but another kind would wait forever. */
function sourceRefIssues({ source, kustomization, providerConfig }: MergedLayers): ConfigIssue[] {
  if (source === undefined || kustomization === undefined) return [];
  const { sourceRef } = kustomization.spec as { sourceRef: { kind: string; name: string; namespace?: string } };
  const sameName = sourceRef.name === source.metadata.name;
  const sameNamespace = (sourceRef.namespace ?? kustomization.metadata.namespace) === source.metadata.namespace;
  if (!sameName || !sameNamespace || sourceRef.kind === source.kind) return [];
  return [
    {
      object: providerConfig.object,
      path: 'kustomization.template.spec.sourceRef.kind',
      message: `${quote(sourceRef.kind)} is not the kind of the configured source; use ${source.kind} or omit sourceRef`,
    },
  ];
}

function secretResourceIssues({ providerConfig, shootResources }: MergedLayers): ConfigIssue[] {
  const { object, secretResourceName } = providerConfig;
  const message =
    secretResourceName === undefined ? undefined : resourceProblem(secretResourceName, 'credentials', shootResources);
  return message === undefined ? [] : [{ object, path: 'source.secretResourceName', message }];
}
