import { scanEntryProblem } from '../../functions/keys/scan-policy.ts';
import { selfHostedCluster } from '../../shared/gardener/shoot-changes.ts';
import { IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import { CERTIFICATES, CONFIGURATION, NAMESPACE, SERVICE_HOST } from '../webhooks/names.ts';
import { list, missing, type Option, port, text, word } from './option.ts';

/** Name of the landscape where none is configured. */
export const DEFAULT_LANDSCAPE = 'gardener';

/** Options that say which clusters a command serves. */
export const clusterOptions = {
  garden: text('KUBECONFIG', 'Kubeconfig of the garden.', {
    required: true,
    fallback: { setBy: 'gardenlet', variables: { GARDEN_KUBECONFIG: (path) => path } },
  }),
  seed: list('NAME=KUBECONFIG', 'A seed to serve, under its name in the garden. Repeatable.', {
    map: true,
    key: 'seeds',
    required: true,
    fallback: {
      setBy: 'gardenlet',
      variables: {
        SEED_NAME: (name) => `${name}=${IN_CLUSTER}`,
        SHOOT_NAME: (name, { SHOOT_NAMESPACE: namespace = missing('SHOOT_NAMESPACE') }) =>
          `${selfHostedCluster({ namespace, name })}=${IN_CLUSTER}`,
      },
    },
  }),
} as const satisfies Record<string, Option>;

/** Options that say which clusters `watch` watches. */
export const watchedClusterOptions = {
  garden: {
    ...clusterOptions.garden,
    description: 'Kubeconfig of the garden, or none: the garden is not watched.',
    required: undefined,
  },
  seed: {
    ...clusterOptions.seed,
    description: 'A seed to watch, under its name in the garden. Repeatable.',
    required: undefined,
  },
} as const satisfies Record<string, Option>;

/** What the operators say for all projects (docs/policy.md, docs/landscape.md). */
export const landscapeOptions = {
  defaults: {
    type: 'nested',
    description:
      'A FluxConfig that is the lowest layer of every configuration, and the pull secret of the landscape ([Defaults and policy](policy.md)).',
  },
  policy: {
    type: 'nested',
    description: "The operators' rules for configurations ([Defaults and policy](policy.md)).",
  },
  rollout: {
    type: 'nested',
    description: 'How what operators change reaches the Shoots ([Rollout](policy.md#rollout)). Default: all at once.',
  },
  addons: {
    type: 'nested',
    description: 'What projects may list under `addons`, by name ([Addons](landscape.md#addons)).',
  },
} as const satisfies Record<string, Option>;

/** Where Git hosts report pushes: what serves it, and the functions that tell projects of it. */
export const pushOptions = {
  'push-url': text(
    'URL',
    'Permit projects to have pushes reported by their Git host ([Push](howto/push.md)); the https:// address under which Git hosts reach the webhooks.',
    {
      default: 'pushes are not taken',
      problem: (text) =>
        /^https:\/\/[^/?#@\s]+(\/[\w.-]+)*$/.test(text) ? undefined : 'is not a URL such as https://flux.example.org',
    },
  ),
} as const satisfies Record<string, Option>;

/** Options of commands that read a distribution from a folder, or from a registry. */
export const distributionOptions = {
  'flux-distribution': text(
    'DIR',
    'Folder with one folder per Flux release, or an artifact that distribution push has pushed: oci://REGISTRY/REPOSITORY@sha256:DIGEST.',
    { required: true },
  ),
  'distribution-cache': text(
    'DIR',
    'With oci://: the folder that keeps the distribution, so that it is pulled once. Lambda reads no oci://.',
  ),
} as const satisfies Record<string, Option>;

/** Options of every command that runs functions. */
export const settingsOptions = {
  ...distributionOptions,
  landscape: text('NAME', 'Name of the landscape in the comments of deploy keys.', { default: DEFAULT_LANDSCAPE }),
  'garden-identity': text('ID', "The garden's cluster identity.", { default: 'taken from the Shoot' }),
  'shoot-access': word(['internal', 'external'], 'Address of a shoot to try first.', {
    default: 'internal inside a cluster, else external',
  }),
  'host-key-scan': word(
    ['on', 'listed', 'off'],
    'Which hosts "knownHosts: scan" may contact. on: all except loopback, link-local and similar addresses. listed: only those of --host-key-scan-allow. off: none.',
  ),
  'host-key-scan-allow': list(
    'ENTRY',
    'An address, an address range or a host name (*.example.org includes all below it) that "knownHosts: scan" may contact. Repeatable. Loopback and similar addresses must be listed as addresses.',
    { problem: scanEntryProblem },
  ),
  'host-key-scan-deny': list('ENTRY', 'The same, for what it may not contact. Repeatable. Takes precedence.', {
    problem: scanEntryProblem,
  }),
  ...landscapeOptions,
  ...pushOptions,
} as const satisfies Record<string, Option>;

/** Five times as many runs may wait for a network, each with its own connections. */
const concurrency = {
  type: 'string',
  value: 'N',
  description: 'Runs of each function at a time, 1 to 1000.',
  default: '20',
  range: [1, 1000],
  problem: () => 'is not a whole number from 1 to 1000',
} as const satisfies Option;

export const runOptions = {
  port: port('Serve /healthz, /readyz, /metrics and /dead-letters on this port.', 'not at all'),
  concurrency,
} as const satisfies Record<string, Option>;

/** The option that says where CloudEvents are sent. */
export const sinkOptions = {
  sink: text('URL', 'Send changes as CloudEvents to this address, for example a broker.', {
    fallback: { setBy: 'a SinkBinding', variables: { K_SINK: (url) => url } },
  }),
} as const satisfies Record<string, Option>;

export const serveOptions = {
  port: port('Port for CloudEvents, and for /healthz, /readyz and /metrics.', '8080'),
  concurrency,
} as const satisfies Record<string, Option>;

export const webhookOptions = {
  'webhook-port': port('Serve the webhooks over HTTPS on this port: /admission and /resource-manager.'),
  'webhook-host': list('NAME', 'Name or address under which API servers call the webhooks. Repeatable.', {
    default: SERVICE_HOST,
  }),
  'webhook-cert': text(
    'FILE',
    'Serve with this certificate (PEM) instead of a generated one. Without --webhook-ca you must set the caBundle of the webhooks yourself.',
  ),
  'webhook-key': text('FILE', 'Key of --webhook-cert (PEM).'),
  'webhook-ca': text('FILE', 'Authority of --webhook-cert (PEM), to be published as the caBundle of the webhooks.'),
  'webhook-secret': text(
    '[CLUSTER:]NAMESPACE/NAME',
    'Secret for the generated certificates. CLUSTER is garden, a seed, or in-cluster for the cluster that this process runs in.',
    { default: `${GARDEN}:${NAMESPACE}/${CERTIFICATES}` },
  ),
  'webhook-configuration': text('NAME', 'Name of the webhook configurations in garden and seeds.', {
    default: CONFIGURATION,
  }),
  'webhook-function': list(
    'NAME',
    'Serve this webhook function and no other: admission, resource-manager-webhook, push-webhook. Repeatable.',
    { default: 'all of them' },
  ),
  'webhook-token-sha256': text(
    'HASH',
    `Serve the webhooks only at paths that end with a token, such as /admission/TOKEN; HASH is its SHA-256. Several hashes are separated by commas.`,
  ),
} as const satisfies Record<string, Option>;

/** Options of `run` for the Shoots' health. */
export const healthOptions = {
  'shoot-health': {
    type: 'boolean',
    description:
      "Report failures of Flux in the Shoot's health (SystemComponentsHealthy), not only in the extension's own conditions.",
  },
  namespace: list(
    'SEED=NAMESPACE',
    "With --shoot-health, for each seed: the extension's namespace there, in which gardenlet expects a heartbeat. For the cluster that this process runs in, it defaults to the namespace of the Pod.",
    { map: true, key: 'namespaces' },
  ),
} as const satisfies Record<string, Option>;

export const logOptions = {
  'log-level': word(['info', 'debug', 'warn', 'error'], 'debug, info, warn or error.', { value: 'LEVEL' }),
} as const satisfies Record<string, Option>;

/** Options that say where `watch` sends changes. */
export const destinationOptions = {
  'queue-prefix': text(
    'TEXT',
    'Send to the queues in SQS whose names begin with this text. Region and credentials are those that the AWS SDK finds.',
    {
      // SQS permits 80 characters; the longest name of a queue of ours needs 34 of them.
      problem: (text) =>
        /^[A-Za-z0-9_-]{1,46}$/.test(text)
          ? undefined
          : 'is not 1 to 46 letters, digits, - or _, such as shoot-flux-prod-',
    },
  ),
  'sqs-endpoint': text('URL', "Another SQS than AWS's.", {
    problem: (text) => (URL.canParse(text) ? undefined : 'is not a URL such as http://127.0.0.1:4566'),
  }),
  ...sinkOptions,
  'events-port': port(
    'With --sink: take changes that wait, and dead letters of the broker, on this port.',
    'not at all',
  ),
} as const satisfies Record<string, Option>;

/** Options of `watch` for the Shoots' health, which the functions report. */
export const heartbeatOptions = {
  ...healthOptions,
  'shoot-health': {
    type: 'boolean',
    description: "The functions report failures in the Shoot's health: write the heartbeat that gardenlet expects.",
  },
} as const satisfies Record<string, Option>;

/** The options of all commands that run until a signal: what a config file may hold. */
export const serviceOptions: Record<string, Option> = {
  ...clusterOptions,
  ...settingsOptions,
  ...runOptions,
  ...destinationOptions,
  ...webhookOptions,
  ...healthOptions,
  ...logOptions,
};
