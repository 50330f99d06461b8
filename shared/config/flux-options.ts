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
import type { DeletionPolicy, FluxInstall, SyncMode } from './effective.ts';
import { type KeyDoc, text } from './schema.ts';

/** The installation that nobody has asked to be different: that of `flux install`. */
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

/** The documentation of the options, the same in both forms. */
export const optionDocs = {
  version: {
    description:
      'The Flux release: one (`v2.9.4`), a range (`2.9.x`), or nothing for the newest that supports the Kubernetes version of the Shoot. Never downgraded.',
    default: 'the newest',
    example: 'v2.9.4',
  },
  registry: {
    description: "Prefix of the controllers' images.",
    default: `\`${installDefaults.registry}\``,
    example: 'registry.example.com/fluxcd',
  },
  namespace: {
    description: 'Where Flux is installed. It cannot change after the first success.',
    default: `\`${installDefaults.namespace}\``,
    example: 'flux-system',
  },
  components: {
    description: 'The controllers that are installed.',
    default: `\`${installDefaults.components.join(', ')}\``,
    example: 'source-controller, kustomize-controller',
  },
  componentsExtra: {
    description: 'Controllers besides `components`, for example `image-reflector-controller` or `source-watcher`.',
    example: 'image-reflector-controller, image-automation-controller',
  },
  imagePullSecret: {
    description:
      'A Secret of type `kubernetes.io/dockerconfigjson` in the namespace of Flux with which the images are pulled.',
    example: 'registry-credentials',
  },
  networkPolicy: { description: "Whether Flux's NetworkPolicies are installed.", default: '`true`', example: 'false' },
  watchAllNamespaces: {
    description: 'Whether Flux looks at all namespaces or only at its own.',
    default: '`true`',
    example: 'false',
  },
  logLevel: {
    description: 'How much the controllers log: `debug`, `info` or `error`.',
    default: '`info`',
    example: 'debug',
  },
  clusterDomain: {
    description: 'The DNS domain of the cluster.',
    default: '`cluster.local`',
    example: 'cluster.local',
  },
  tolerationKeys: {
    description: 'Taints that the controllers tolerate.',
    example: 'node-role.kubernetes.io/infra',
  },
  syncMode: {
    description: 'What happens after the first success: `Once`, `ManifestsOnly` or `Reconcile`; see below.',
    default: '`Once`',
    example: 'Reconcile',
  },
  deletionPolicy: {
    description:
      'What becomes of Flux when the extension leaves the Shoot: `Orphan` leaves it there, working; `Uninstall` removes it. What Flux has deployed stays in both.',
    default: '`Orphan` where the mode has let go of Flux, `Uninstall` otherwise',
    example: 'Orphan',
  },
  suspend: {
    description:
      'Suspends the source and the Kustomization, for incidents: nothing new arrives, nothing is removed. Where `syncMode` `Once` has made them yours, use `flux suspend` in the Shoot instead.',
    default: '`false`',
    example: 'true',
  },
} as const satisfies Record<string, KeyDoc>;

/** The checks of the options that are texts. */
export const optionChecks = {
  version: fluxVersion,
  registry,
  namespace: fluxNamespace,
  component,
  imagePullSecret: objectName,
  clusterDomain,
  tolerationKey,
} as const satisfies Record<string, Check>;

/** A list as the text of a ConfigMap: separated by commas, blanks or lines. */
export function listText(check: Check) {
  return z.pipe(
    text((value) =>
      items(value)
        .map(check)
        .find((problem) => problem !== undefined),
    ),
    z.transform(items),
  );
}

/** `true` or `false` as the text of a ConfigMap, and nothing else. */
export function flagText() {
  return z.pipe(
    z.enum(['true', 'false']),
    z.transform((value) => value === 'true'),
  );
}

function items(value: string): string[] {
  return value.split(/[\s,]+/).filter((item) => item !== '');
}
