import * as z from 'zod/mini';
import {
  type Check,
  clusterDomain,
  component,
  fluxNamespace,
  fluxVersion,
  objectName,
  registry,
  tolerationKey,
} from './checks.ts';
import { entriesProblem, limits } from './limits.ts';
import { type KeyDoc, lengthProblem, text } from './schema.ts';
import type { DeletionPolicy, FluxInstall, SyncMode } from './types.ts';

/** The defaults of the installation, which are those of `flux install`. */
export const installDefaults: FluxInstall = {
  registry: 'ghcr.io/fluxcd',
  namespace: 'flux-system',
  components: ['source-controller', 'kustomize-controller', 'helm-controller', 'notification-controller'],
  networkPolicy: true,
  watchAllNamespaces: true,
  logLevel: 'info',
  clusterDomain: 'cluster.local',
  tolerationKeys: [],
};

export const syncModes = ['Once', 'ManifestsOnly', 'Reconcile'] as const satisfies readonly SyncMode[];
export const deletionPolicies = ['Orphan', 'Uninstall'] as const satisfies readonly DeletionPolicy[];
export const logLevels = ['debug', 'info', 'error'] as const satisfies readonly FluxInstall['logLevel'][];

/** The documentation of the options, shared by the ConfigMap and the providerConfig. */
export const optionDocs = {
  version: {
    description:
      'The Flux release: an exact version (`v2.9.4`), a range (`2.9.x`, `>=2.8 <2.10`, `~2.8`, `^2`, with alternatives `||`), or nothing for the newest that supports the Kubernetes version of the Shoot. Never downgraded.',
    default: 'the newest release',
    example: 'v2.9.4',
  },
  registry: {
    description: "Prefix of the controllers' images.",
    default: `\`${installDefaults.registry}\``,
    example: 'registry.example.com/fluxcd',
  },
  namespace: {
    description: 'The namespace of Flux. It cannot change after the first success.',
    default: `\`${installDefaults.namespace}\``,
    example: 'flux-system',
  },
  components: {
    description: 'The controllers to install.',
    default: `\`${installDefaults.components.join(', ')}\``,
    example: 'source-controller, kustomize-controller',
  },
  componentsExtra: {
    description: 'Additional controllers, for example `image-reflector-controller` or `source-watcher`.',
    example: 'image-reflector-controller, image-automation-controller',
  },
  imagePullSecret: {
    description: 'A Secret of type `kubernetes.io/dockerconfigjson` in the namespace of Flux for pulling the images.',
    example: 'registry-credentials',
  },
  networkPolicy: { description: "Whether to install Flux's NetworkPolicies.", default: '`true`', example: 'false' },
  watchAllNamespaces: {
    description: 'Whether Flux watches all namespaces or only its own.',
    default: '`true`',
    example: 'false',
  },
  logLevel: {
    description: 'The log level of the controllers: `debug`, `info` or `error`.',
    default: '`info`',
    example: 'debug',
  },
  clusterDomain: {
    description: 'The DNS domain of the cluster.',
    default: '`cluster.local`',
    example: 'cluster.local',
  },
  tolerationKeys: {
    description: 'Keys of the taints that the controllers tolerate.',
    example: 'node-role.kubernetes.io/infra',
  },
  multiTenancy: {
    description:
      'Whether tenants that share the shoot are kept apart, as in the lockdown of Flux: no references to objects of other namespaces, no remote bases, and each Kustomization and HelmRelease acts as a ServiceAccount of its namespace, `default` if it names none. The root Kustomization acts as `kustomize-controller`.',
    default: '`false`',
    example: 'true',
  },
  syncMode: {
    description:
      'How much of the configuration is still applied after the first success: `Once`, `ManifestsOnly` or `Reconcile`.',
    default: '`ManifestsOnly` if the source or, without one, `objects` come from `flux-config`, otherwise `Once`',
    example: 'Reconcile',
  },
  deletionPolicy: {
    description:
      'Whether Flux stays when the extension is removed from the Shoot: `Orphan` leaves it running, `Uninstall` removes it. The objects that Flux has deployed stay in both cases.',
    default: '`Orphan` if `syncMode` has released Flux, otherwise `Uninstall`',
    example: 'Orphan',
  },
  adopt: {
    description:
      'Whether the extension takes over a Flux that `flux bootstrap`, Helm or flux-operator has installed in the shoot. Without it, such a Shoot is left alone.',
    default: '`false`',
    example: 'true',
  },
  suspend: {
    description:
      'Suspends the source and the Kustomization, for incidents: nothing new is applied and nothing is removed. If `syncMode` `Once` has released them, use `flux suspend` in the shoot instead.',
    default: '`false`',
    example: 'true',
  },
} as const satisfies Record<string, KeyDoc>;

/** The checks of the options that are strings. */
export const optionChecks = {
  version: fluxVersion,
  registry,
  namespace: fluxNamespace,
  component,
  imagePullSecret: objectName,
  clusterDomain,
  tolerationKey,
} as const satisfies Record<string, Check>;

/** Returns the schema of a list in a ConfigMap: one string, separated by commas, blanks or newlines. */
export function listText(check: Check) {
  return z.pipe(
    text((value) => listProblem(items(value), check), limits.configuration),
    z.transform(items),
  );
}

/** Returns the schema of a boolean in a ConfigMap: the string `true` or `false`. */
export function flagText() {
  return z.pipe(
    z.enum(['true', 'false']),
    z.transform((value) => value === 'true'),
  );
}

function listProblem(entries: string[], check: Check): string | undefined {
  if (entries.length > limits.list.most) return entriesProblem(entries.length);
  for (const entry of entries) {
    const problem = lengthProblem(entry) ?? check(entry);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function items(value: string): string[] {
  return value.split(/[\s,]+/).filter((item) => item !== '');
}
