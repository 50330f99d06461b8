import * as z from 'zod/mini';
import { ConfigError, type ConfigIssue } from '../errors.ts';
import { gitHost } from '../ssh/git-hosts.ts';
import { hostKeys, knownHostsProblem, missingHostKey, sshHost } from '../ssh/known-hosts.ts';
import {
  branchWarning,
  type Check,
  gitBranch,
  gitCommit,
  gitTag,
  gitUrl,
  isSsh,
  kustomizationPath,
  namespaceName,
  normalVersion,
  objectName,
  pathWarning,
  positiveDuration,
  semverRange,
} from './checks.ts';
import { checked } from './field-rules.ts';
import { binaryIssues, type FluxConfigMap, fluxConfigObject } from './flux-config-map.ts';
import { fluxSchema, settings } from './flux-options.ts';
import { fromCopiedForm, withPort } from './git-url.ts';
import { entriesProblem, limits } from './limits.ts';
import { inside, type Origins, optionOrigins, type Place } from './origins.ts';
import { FLUX_SOURCE, MAIN_GIT_REPOSITORY, MAIN_KUSTOMIZATION } from './project-config.ts';
import { addonsDoc } from './provider-config-schema.ts';
import { type KeyDoc, key, keyDocs, schemaIssues, text } from './schema.ts';
import { NO_TARGET_NAMESPACE } from './target-namespace.ts';
import { defaultIntervals } from './templates.ts';
import { emptyLayer, type FluxConfig, type Layer } from './types.ts';
import { asObject, asString, type JsonObject } from './values.ts';
import { unlessVariables, urlWithVariables } from './variables.ts';

// People write this ConfigMap by hand, and Git hosts offer such forms for copying, so they are accepted here. In templates,
// which are Flux objects, they are errors.
const repositoryUrl = urlWithVariables((value) => gitUrl(fromCopiedForm(value) ?? value));
const knownHosts: Check = (value) => (value === 'scan' ? undefined : knownHostsProblem(value));

/** The keys of `flux-config` that describe the repository and how to read it. */
export const repositoryKeys = {
  repositoryUrl: key(text(repositoryUrl), {
    sets: 'source.spec.url',
    description:
      'The URL with which Git clones the repository: `https://`, `http://` or `ssh://`; `git@host:path` is read as `ssh://git@host/path`, and `https://name@host` without the name. Without it only Flux itself is installed.',
    example: 'ssh://git@github.com/org/fleet',
  }),
  repositoryType: key(z.enum(['public', 'private']), {
    sets: 'source.spec.secretRef',
    description:
      'Whether reading needs credentials. `private` with `ssh://`: a key pair is created in the Secret `flux-source` of the project; add its public key to the repository. `private` with `https://`: write `username` and `password` into that Secret yourself, or the credentials of a GitHub App (see `repositoryProvider`). [More](#private-repositories).',
    default: '`public`',
    example: 'private',
  }),
  repositoryProvider: key(z.enum(['generic', 'github']), {
    sets: 'source.spec.provider',
    description:
      '`github`: Flux authenticates as a GitHub App, with `githubAppID`, `githubAppInstallationID`, `githubAppPrivateKey` and, for GitHub Enterprise, `githubAppBaseURL` of the Secret `flux-source`, which you write. Needs `https://`, `repositoryType: private` and Flux 2.5 or newer.',
    default: '`generic`',
    example: 'github',
  }),
  // `knownHostsProblem` has limits of its own.
  knownHosts: key(text(knownHosts, limits.configuration), {
    description:
      "The host keys of the repository's server as lines of known_hosts, which for another port than 22 begin with `[git.example.com]:7999`, as `ssh-keyscan -p 7999 git.example.com` prints them; or `scan` to trust the keys that the server presents first, where the operators permit it. At most 64 KiB and 1,000 lines. Not needed for well-known hosts.",
    example: 'scan',
  }),
  sshKeyType: key(z.enum(['ed25519', 'rsa']), {
    description:
      'The type of the key pair; `rsa` (4096 bits) is for servers that do not support Ed25519. An existing pair changes its type only when it is rotated.',
    default: '`rsa` for Azure DevOps, AWS CodeCommit and Oracle Cloud, which take no other; else `ed25519`',
    example: 'rsa',
  }),
  repositoryBranch: key(text(unlessVariables(gitBranch)), {
    sets: 'source.spec.ref.branch',
    description: 'The branch, without `refs/heads/`.',
    default: "Flux's default, `master`",
    example: 'main',
  }),
  repositoryTag: key(text(unlessVariables(gitTag)), {
    sets: 'source.spec.ref.tag',
    description: 'A tag instead of the branch.',
    example: 'v1.2.0',
  }),
  repositorySemver: key(text(unlessVariables(semverRange)), {
    sets: 'source.spec.ref.semver',
    description: 'The newest tag in a version range instead of the branch.',
    example: '>=1.0.0 <2.0.0',
  }),
  repositoryCommit: key(text(unlessVariables(gitCommit)), {
    sets: 'source.spec.ref.commit',
    description: 'A commit, as its full 40-character hash; with `repositoryBranch`, a commit on that branch.',
    example: '9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c',
  }),
  repositoryPath: key(text(unlessVariables(kustomizationPath)), {
    sets: 'kustomization.spec.path',
    description: 'The folder to apply, from the root of the repository, with slashes.',
    default: '`./`',
    example: './clusters/production',
  }),
  repositoryInterval: key(text(positiveDuration), {
    sets: 'source.spec.interval',
    description: 'How often Flux checks for a new revision.',
    default: `\`${defaultIntervals.repository}\``,
    example: '1m',
  }),
  kustomizationInterval: key(text(positiveDuration), {
    sets: 'kustomization.spec.interval',
    description: 'How often Flux compares the cluster with the repository.',
    default: `\`${defaultIntervals.kustomization}\``,
    example: '10m',
  }),
  kustomizationTargetNamespace: key(text(namespaceName), {
    sets: 'kustomization.spec.targetNamespace',
    description:
      'Puts all objects into this namespace, and renames every Namespace in the repository to it. `none`: each object is in its own namespace, also in a Shoot that [has kept `default`](#configmap-flux-config).',
    default: 'each object is in its own namespace',
    example: 'default',
  }),
};

/** Options of the installation that are objects: `config.yaml` has them, and there is no key for them. */
const OBJECTS = ['featureGates', 'nodeSelector', 'commonMetadata', 'proxy', 'storage', 'sharding', 'patches'];

const { version, ...otherOptions } = Object.fromEntries(
  Object.entries(fluxSchema.shape).filter(([option]) => !OBJECTS.includes(option)),
);

/** Key of `flux-config` -> the field of the effective configuration that it sets. Errors and remedies name keys by this map. */
export const fluxConfigFields: Readonly<Record<string, string>> = {
  fluxVersion: 'flux.version',
  ...Object.fromEntries(Object.keys(otherOptions).map((option) => [option, `flux.${option}`])),
  ...Object.fromEntries(
    Object.entries(repositoryKeys).flatMap(([name, schema]) => {
      const field = keyDocs.get(schema)?.sets;
      return field === undefined ? [] : [[name, field]];
    }),
  ),
  ...Object.fromEntries(Object.keys(settings).map((setting) => [setting, setting])),
  addons: 'addons',
};

/** Returns the key of flux-config that sets a field, undefined if only a providerConfig can set it. */
export function fluxConfigKey(field: string): string | undefined {
  return Object.entries(fluxConfigFields).find(([, set]) => set === field)?.[0];
}

/** The keys of the ConfigMap `flux-config`; every value is a string. */
export const fluxConfigSchema = z.strictObject({
  fluxVersion: textRow(version),
  ...repositoryKeys,
  ...textRows(settings),
  ...textRows(otherOptions),
  addons: key(listText(text(objectName)), addonsDoc),
  'config.yaml': key(text(undefined, limits.configuration), {
    description:
      'A whole [FluxConfig](#providerconfig) as YAML, for what the other keys cannot say. It must not repeat a key.',
    example: 'flux: { logLevel: debug }',
  }),
  'overrides.yaml': key(text(undefined, limits.configuration), {
    description:
      'A list of [deviations for some Shoots](#overridesyaml) as YAML, selected by the labels of the Shoots.',
    example: '[{ selector: { matchLabels: { stage: dev } }, config: { flux: { logLevel: debug } } }]',
  }),
  rollout: key(text(), {
    description: '[How an edit reaches the Shoots](#rollout) of the project, as YAML. Absent: all at once.',
    example: '{ maxInProgress: 10%, maxFailed: 5% }',
  }),
  push: textRow(
    key(z.boolean(), {
      description:
        '`true`: your Git host [reports pushes](howto/push.md), and Flux fetches at once instead of at its next interval. Its operators must permit it.',
      default: '`false`',
      example: 'true',
    }),
  ),
});

/** Returns the rows of a FluxConfig for the keys of `flux-config`. */
function textRows<T extends Record<string, z.ZodMiniType>>(rows: T): { [K in keyof T]: z.ZodMiniType } {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, textRow(row)])) as {
    [K in keyof T]: z.ZodMiniType;
  };
}

function textRow(row: z.ZodMiniType | undefined): z.ZodMiniType {
  return key(asText(row as z.ZodMiniType), keyDocs.get(row as z.ZodMiniType) as KeyDoc);
}

/** Returns the schema of a text that stands for a value of another schema. */
function asText(schema: z.ZodMiniType): z.ZodMiniType {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  if (def.type === 'optional') return asText(def.innerType as z.ZodMiniType);
  if (def.type === 'boolean') {
    return z.pipe(
      z.enum(['true', 'false']),
      z.transform((value) => value === 'true'),
    );
  }
  return def.type === 'array' ? listText(def.element as z.ZodMiniType) : schema;
}

/** A list is one text, separated by commas, blanks or newlines. */
function listText(entry: z.ZodMiniType): z.ZodMiniType {
  return z.pipe(
    text((value) => listProblem(items(value), entry), limits.configuration),
    z.transform(items),
  );
}

function listProblem(entries: string[], schema: z.ZodMiniType): string | undefined {
  if (entries.length > limits.list.most) return entriesProblem(entries.length);
  return entries.flatMap((entry) => schema.safeParse(entry).error?.issues ?? [])[0]?.message;
}

function items(value: string): string[] {
  return value.split(/[\s,]+/).filter((item) => item !== '');
}

/** The values of the keys: those of the repository, and others by the schemas of their rows. */
type FluxConfigKeys = Parameters<typeof repositoryOf>[0] & JsonObject;

/** Reads the ConfigMap `flux-config`. */
export function readFluxConfig(fluxConfig: FluxConfigMap): Layer {
  const object = fluxConfigObject(fluxConfig.namespace);
  const place = { object, path: '' };
  if (fluxConfig.tooLarge !== undefined) return emptyLayer(place, [fluxConfig.tooLarge]);
  const data = trimmed(fluxConfig.data);
  const parsed = fluxConfigSchema.safeParse(data);
  const keys = parsed.data as FluxConfigKeys | undefined;
  const content = keys === undefined ? { flux: {} } : toContent(place, keys);
  return {
    ...place,
    isRead: true,
    content,
    sets: { source: data.repositoryUrl !== undefined, kustomization: data.repositoryUrl !== undefined },
    knownHosts: keys?.knownHosts,
    origins: keys === undefined ? {} : originsOf(object, keys, content),
    issues: [
      ...schemaIssues(object, fluxConfigSchema, data),
      ...repositoryIssues(object, data),
      ...binaryIssues(fluxConfig),
    ],
    warnings: checked(warningsOf, keys ?? {}).map(([path, message]) => ({ object, path, message })),
  };
}

/** Returns the content of the keys, each in the field that its row names. */
function toContent(place: Place, keys: FluxConfigKeys): FluxConfig {
  const repository = repositoryOf(keys);
  const isPrivate = repository?.type === 'private';
  const parts = {
    flux: {},
    source: {
      kind: 'GitRepository',
      metadata: { name: MAIN_GIT_REPOSITORY },
      spec: { interval: defaultIntervals.repository },
    },
    kustomization: {
      metadata: { name: MAIN_KUSTOMIZATION },
      spec: { interval: defaultIntervals.kustomization, path: './', prune: true },
    },
  };
  const values: JsonObject = {
    ...keys,
    fluxVersion: keys.fluxVersion && normalVersion(keys.fluxVersion as string),
    addons: keys.addons && (keys.addons as string[]).map((name) => ({ name, place: inside(place, 'addons') })),
    repositoryUrl: repository?.url,
    repositoryType: isPrivate ? { name: FLUX_SOURCE } : undefined,
    repositoryProvider: repository?.provider,
    kustomizationTargetNamespace:
      keys.kustomizationTargetNamespace === NO_TARGET_NAMESPACE ? undefined : keys.kustomizationTargetNamespace,
  };
  for (const [name, field] of Object.entries(fluxConfigFields)) {
    if (values[name] !== undefined) setAt(parts, field.split('.'), values[name]);
  }
  const { source, kustomization, ...others } = parts;
  if (repository === undefined) return others;
  return {
    ...others,
    sources: [{ template: source, place, secret: isPrivate ? { type: 'flux-source' } : undefined }],
    kustomizations: [{ template: kustomization, place }],
  };
}

function setAt(object: JsonObject, [field = '', ...below]: string[], value: unknown): void {
  if (below.length > 0) object[field] ??= {};
  if (below.length === 0) object[field] = value;
  else setAt(object[field] as JsonObject, below, value);
}

function originsOf(object: string, keys: FluxConfigKeys, { flux }: FluxConfig): Origins {
  // A list is one string here, so its entries have no path of their own.
  const options = optionOrigins(flux, (option) => ({ object, path: fluxConfigKey(`flux.${option}`) ?? option }));
  const set = Object.entries(fluxConfigFields).filter(([name]) => keys[name] !== undefined);
  return { ...options, ...Object.fromEntries(set.map(([name, field]) => [field, { object, path: name }])) };
}

/** What Flux accepts, and what is hardly meant. */
const warningsOf: Readonly<Record<string, Check>> = {
  repositoryUrl: portWarning,
  repositoryBranch: branchWarning,
  repositoryPath: pathWarning,
};

/** Such an address is valid, but no server answers where the number was meant as a port. */
function portWarning(url: string): string | undefined {
  const port = withPort(url);
  return port && `has no port, because a number after the colon is a folder; write ${port} if a port is meant`;
}

/** Trims all values and drops empty ones. */
export function trimmed(data: unknown): JsonObject {
  const entries = Object.entries(asObject(data) ?? {});
  return Object.fromEntries(
    entries
      .map(([name, value]) => [name, typeof value === 'string' ? value.trim() : value])
      .filter(([, value]) => value !== ''),
  );
}

const NEEDS_URL = Object.keys(repositoryKeys).filter(
  (name) => name.startsWith('repository') && name !== 'repositoryUrl',
);
const REVISIONS = ['repositoryTag', 'repositorySemver', 'repositoryCommit'];

/** Returns the issues that concern several keys of the repository. */
function repositoryIssues(object: string, data: JsonObject): ConfigIssue[] {
  const written = asString(data.repositoryUrl) ?? '';
  const url = fromCopiedForm(written) ?? written;
  const sshUrl = isSsh(url) && URL.canParse(url) ? new URL(url).href : undefined;
  const needsUrl = NEEDS_URL.filter((name) => data[name] !== undefined);
  const [first, second] = REVISIONS.filter((name) => data[name] !== undefined);
  const knownHosts = asString(data.knownHosts);
  const isPublic = (data.repositoryType ?? 'public') === 'public';
  const isGithub = data.repositoryProvider === 'github';
  const host = sshUrl === undefined ? undefined : gitHost(sshUrl);
  const lacksKey = sshUrl !== undefined && knownHosts !== undefined && !mayHaveKeyOf(sshUrl, knownHosts);
  const rows: [isWrong: boolean, path: string, message: string][] = [
    [
      data.repositoryUrl === undefined && needsUrl.length > 0,
      'repositoryUrl',
      `is missing; set it to the URL of the repository, or remove ${needsUrl.join(', ')}`,
    ],
    [sshUrl !== undefined && isPublic, 'repositoryType', 'must be private, because Flux needs a key to read over SSH'],
    [
      sshUrl !== undefined && isGithub,
      'repositoryProvider',
      'cannot be github with SSH; use the https:// URL of the repository',
    ],
    [
      sshUrl === undefined && isGithub && isPublic,
      'repositoryType',
      'must be private, because repositoryProvider is github',
    ],
    [second !== undefined, second ?? '', `cannot be combined with ${first}; set only one of ${REVISIONS.join(', ')}`],
    [lacksKey, 'knownHosts', lacksKey ? `${missingHostKey(knownHosts, sshHost(sshUrl))}, or use scan` : ''],
    [
      host?.keyType !== undefined && data.sshKeyType === 'ed25519',
      'sshKeyType',
      `cannot be ed25519, because ${host?.name} takes RSA keys only; set it to rsa, or remove it`,
    ],
  ];
  return rows.flatMap(([isWrong, path, message]) => (isWrong ? [{ object, path, message }] : []));
}

/** Returns true also for invalid lines, which the schema reports. */
function mayHaveKeyOf(url: string, knownHosts: string): boolean {
  const unclear = knownHosts === 'scan' || knownHostsProblem(knownHosts) !== undefined;
  return unclear || hostKeys(knownHosts, sshHost(url)).length > 0;
}

/** The project's repository as the ConfigMap `flux-config` describes it. */
export interface Repository {
  /** `ssh://`, `https://` or `http://`; other forms are converted (`fromCopiedForm`). */
  url: string;
  type: 'public' | 'private';
  /** Lines of known_hosts, `scan`, or absent. */
  knownHosts?: string | undefined;
  sshKeyType: 'ed25519' | 'rsa';
  /** Flux authenticates as a GitHub App. */
  provider?: 'github' | undefined;
}

const repositorySchema = z.object(repositoryKeys);

/**
 * Returns the repository of a ConfigMap, undefined if it has none. Checks only the keys of the repository, so that a typo
 * elsewhere does not prevent a key pair from being created.
 * @throws ConfigError with everything that is wrong with these keys
 */
export function fluxConfigRepository(fluxConfig: FluxConfigMap): Repository | undefined {
  const object = fluxConfigObject(fluxConfig.namespace);
  if (fluxConfig.tooLarge !== undefined) throw new ConfigError([fluxConfig.tooLarge]);
  const data = trimmed(fluxConfig.data);
  const issues = [...schemaIssues(object, repositorySchema, data), ...repositoryIssues(object, data)];
  if (issues.length > 0) throw new ConfigError(issues);
  return repositoryOf(repositorySchema.parse(data));
}

/** Returns the repository of valid keys. */
function repositoryOf(keys: z.infer<typeof repositorySchema>): Repository | undefined {
  if (keys.repositoryUrl === undefined) return undefined;
  const url = fromCopiedForm(keys.repositoryUrl) ?? keys.repositoryUrl;
  return {
    url,
    type: keys.repositoryType ?? 'public',
    knownHosts: keys.knownHosts,
    sshKeyType: keys.sshKeyType ?? gitHost(url).keyType ?? 'ed25519',
    ...(keys.repositoryProvider === 'github' && { provider: 'github' as const }),
  };
}
