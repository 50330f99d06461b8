import { type KubeObject, type Resource, resources } from '../kube/resource.ts';
import { ownKey, type Subscription } from '../runtime/definition.ts';
import { fieldsOf } from '../shapes.ts';
import { pushRequestOf } from './push.ts';

/** The ConfigMap with a project's configuration, and the Secret with the credentials of its repository. */
export const FLUX_CONFIG = 'flux-config';
export const FLUX_SOURCE = 'flux-source';

/**
 * Further Secrets of a project, which wire themselves to what needs them. Their names are fixed, because the rights name
 * them.
 */
export const FLUX_REGISTRY = 'flux-registry';
export const FLUX_SOPS = 'flux-sops';
export const FLUX_VARIABLES = 'flux-variables';
export const projectSecretNames = [FLUX_REGISTRY, FLUX_SOPS, FLUX_VARIABLES] as const;
export type ProjectSecretName = (typeof projectSecretNames)[number];

/** The copy of `ca.crt` in `flux-registry`: Flux takes no certificate from a Secret with credentials for registries. */
export const FLUX_REGISTRY_CA = 'flux-registry-ca';

/** Returns the Secret of the project of which a Secret in a shoot is a copy, by its name there. */
export function projectSecretBehind(copy: string | undefined): ProjectSecretName | undefined {
  return copy === FLUX_REGISTRY_CA ? FLUX_REGISTRY : projectSecretNames.find((name) => name === copy);
}

/** Annotation on `flux-config` or a Shoot: each new value asks Flux in the shoots to reconcile now. */
export const RECONCILE_AT = 'flux.extensions.gardener.cloud/reconcile-at';

/** Annotation on `flux-config`: continues a rollout that is paused. The value names its revision. */
export const CONTINUE = 'flux.extensions.gardener.cloud/continue';

/**
 * Annotation on `flux-config`: suspends Flux in all Shoots of the project while it is there (`suspension.ts`). On an object
 * of Flux in a shoot: who has suspended it so.
 */
export const SUSPENDED = 'flux.extensions.gardener.cloud/suspended';

/**
 * The Secret of a project with the `token` by which Git hosts prove that they report a push. Its annotation says what they
 * have reported, so that it reaches every process that serves Shoots of the project.
 */
export const FLUX_PUSH = 'flux-push';
export const PUSHED = 'flux.extensions.gardener.cloud/pushed';

/** Annotation on the `flux-status` of the landscape: Shoots go back to what they had before the revision that it names. */
export const ABORT = 'flux.extensions.gardener.cloud/abort';

/** The namespace of the operators in every garden, with their pull secret and the `flux-status` of the landscape. */
export const OPERATORS_NAMESPACE = 'garden';

/** The ConfigMap in which the members of a project see how Flux is doing in their Shoots. */
export const FLUX_STATUS = 'flux-status';

/** The label of its owner, by which it is distinguished from a ConfigMap that a project calls the same. */
export const STATUS_OWNER = { label: 'app.kubernetes.io/managed-by', value: 'gardener-extension-shoot-flux' };

/** Name of the landscape's pull secret in the garden and in the shoots; the rights name it. */
export const PULL_SECRET = 'shoot-flux-pull-secret';

/** Names of the objects in the shoot, as in the first implementation, so that its Shoots see no other. */
export const MAIN_GIT_REPOSITORY = 'main-gitrepo';
export const MAIN_KUSTOMIZATION = 'main-ks';
/** Keys of `flux-source` with the key pair that a rotation has prepared; it never leaves the garden (decision 19). */
export const NEXT_IDENTITY = 'identity.next';
export const NEXT_PUBLIC_KEY = 'identity.next.pub';

/** The two phases of a rotation, named like those of Gardener's own credentials (decision 19). */
export const ROTATE_START = 'rotate-ssh-keypair-start';
export const ROTATE_COMPLETE = 'rotate-ssh-keypair-complete';

/** Annotations on `flux-source`. The public key of the current key pair, as a line for the Git host. */
export const PUBLIC_KEY = 'flux.extensions.gardener.cloud/public-key';
/** `SHA256:…` of the current public key. */
export const FINGERPRINT = 'flux.extensions.gardener.cloud/fingerprint';
/** Public key of the pair that a rotation has prepared. */
export const NEXT_LINE = 'flux.extensions.gardener.cloud/next-public-key';
/** `SHA256:…` of the prepared public key. */
export const NEXT_FINGERPRINT = 'flux.extensions.gardener.cloud/next-fingerprint';
/** `SHA256:…` of the key that the last rotation replaced, until the next rotation starts. */
export const FORMER_FINGERPRINT = 'flux.extensions.gardener.cloud/former-fingerprint';

/** All of these objects map to the key of the project's configuration. */
const keys = (object: KubeObject, cluster: string) => [
  { cluster, namespace: object.metadata.namespace ?? '', name: FLUX_CONFIG },
];

/** Selects the objects of this name in all projects. */
const named = (resource: Resource, name: string) =>
  ({ in: 'garden', resource, fieldSelector: `metadata.name=${name}` }) as const;

/** Reports every change of the configuration's content, and of these annotations. */
export function fluxConfigSubscription(...annotations: string[]): Subscription {
  return {
    ...named(resources.configMaps, FLUX_CONFIG),
    wakes: ({ metadata, data, binaryData }) => [
      metadata.uid,
      data,
      binaryData,
      ...annotations.map((name) => metadata.annotations?.[name]),
    ],
    keys,
  };
}

/**
 * Reports that others have deleted `flux-status`, written into its data, or made it ours by its label, and what operators
 * say in annotations of theirs; never what we write, whose metadata alone leaves the API server.
 */
export const fluxStatusSubscription: Subscription = {
  ...named(resources.configMaps, FLUX_STATUS),
  metadataOnly: true,
  isNews: (object) => object.metadata.namespace === OPERATORS_NAMESPACE || writesOfOthers(object).length > 0,
  wakes: (object) => [...writesOfOthers(object), ...saidByOperators(object)],
  keys: ownKey,
};

function saidByOperators({ metadata: { namespace, annotations } }: KubeObject): unknown[] {
  return namespace === OPERATORS_NAMESPACE ? [ABORT, CONTINUE, SUSPENDED].map((name) => annotations?.[name]) : [];
}

/** Reports that a Git host has reported a push, to the key of the Secret. */
export const pushSubscription: Subscription = {
  ...named(resources.secrets, FLUX_PUSH),
  metadataOnly: true,
  isNews: ({ metadata }) => pushRequestOf(metadata.annotations?.[PUSHED], Date.now()) !== undefined,
  wakes: ({ metadata }) => metadata.annotations?.[PUSHED],
  keys: ownKey,
};

/** Reports that a project has deleted its `flux-push`, or has another one, to the key of its configuration. */
export const tokenSubscription: Subscription = {
  ...pushSubscription,
  isNews: () => true,
  wakes: ({ metadata }) => metadata.uid,
  keys,
};

/** Names and times of writes by others of which values are left. Our corrections change neither. */
function writesOfOthers({ metadata: { managedFields = [] } }: KubeObject): unknown[] {
  return managedFields.flatMap(({ manager = '', time, fieldsV1 }) =>
    !isAboutUs(fieldsV1) || manager.startsWith(OUR_MANAGERS) ? [] : [[manager, time]],
  );
}

function isAboutUs(fields: Record<string, unknown> = {}): boolean {
  const labels = fieldsOf(fieldsOf(fields['f:metadata'])?.['f:labels']);
  return fields['f:data'] !== undefined || labels?.[`f:${STATUS_OWNER.label}`] !== undefined;
}

/** The field manager of each function begins with it. */
const OUR_MANAGERS = 'shoot-flux-';

/** Reports every change of the credentials and of the other Secrets of a project, without their content. */
export const projectSecretSubscriptions: Subscription[] = [FLUX_SOURCE, ...projectSecretNames].map((name) => ({
  ...named(resources.secrets, name),
  metadataOnly: true,
  wakes: ({ metadata }) => metadata.resourceVersion,
  keys,
}));
