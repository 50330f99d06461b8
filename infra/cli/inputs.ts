import * as z from 'zod/mini';
import { type FluxConfigMap, fluxConfigMapOf } from '../../shared/config/flux-config-map.ts';
import { readLandscape } from '../../shared/config/landscape.ts';
import { projectSecretOf } from '../../shared/config/project-secret-content.ts';
import { neededProjectSecrets } from '../../shared/config/project-secrets.ts';
import { shown } from '../../shared/config/quote.ts';
import { requiredKey, schemaIssues } from '../../shared/config/schema.ts';
import { shootResourcesOf } from '../../shared/config/shoot-resources.ts';
import type { ConfigInputs } from '../../shared/config/types.ts';
import { asObject, asString, withoutNulls } from '../../shared/config/values.ts';
import { ConfigError, ShootFluxError } from '../../shared/errors.ts';
import { shootTraits } from '../../shared/gardener/shoot-facts.ts';
import { type Cluster, EXTENSION_TYPE, type Shoot } from '../../shared/gardener/types.ts';
import { missing, type Option, type Terminal, text, UsageError, type Values } from './option.ts';
import { readDocument } from './read-file.ts';
import { checkNamespace, type GivenSecrets, readSecrets } from './secrets.ts';
import { fromConfigFile } from './sources.ts';

/** Options that `render` and `validate` share. */
export const inputOptions = {
  'flux-distribution': text('DIR', 'Folder with one folder per Flux release.', { required: true }),
  config: text('FILE', 'A config file of run, whose keys defaults and policy apply as they would in the landscape.'),
  'flux-config': text('FILE', 'The ConfigMap flux-config of the project.'),
  'provider-config': text('FILE', 'The providerConfig (FluxConfig) of the Shoot.'),
  shoot: text(
    'FILE',
    'The Shoot: used for its resources, its Kubernetes version and, without --provider-config, its providerConfig.',
  ),
  secrets: text(
    'FILE',
    'Secrets and ConfigMaps of the project: those that the configuration names must be there with their keys. No value is printed.',
  ),
} as const satisfies Record<string, Option>;

export const inputNotes = 'FILE is YAML or JSON, or - for standard input.';

/** The inputs of a Shoot's objects, as far as files can provide them. */
export interface CliInputs {
  distribution: string;
  config: ConfigInputs;
  shoot: Shoot | undefined;
  /** What --secrets names; absent: unknown. */
  secrets?: GivenSecrets | undefined;
}

/** Reads the files that the options name. @param other a further file that the command has read */
export async function readInputs(
  values: Values<typeof inputOptions>,
  terminal: Terminal,
  other?: string,
): Promise<CliInputs> {
  const distribution = values['flux-distribution'];
  if (distribution === undefined) missing('--flux-distribution DIR');
  const files = [values['flux-config'], values['provider-config'], values.shoot, values.config, values.secrets];
  if ([...files, other].filter((file) => file === '-').length > 1)
    throw new UsageError('only one file can be standard input');
  const read = async <T>(file: string | undefined, as: (document: unknown, file: string) => T) =>
    file === undefined ? undefined : as(await readDocument(file, terminal), file);
  const shoot = await read(values.shoot, shootOf);
  const fluxConfig = await read(values['flux-config'], (document, file) => fluxConfigOf(document, file, shoot));
  const given = await read(values['provider-config'], providerConfigOf);
  const providerConfig = values['provider-config'] === undefined ? ownProviderConfig(shoot) : given;
  const secrets = values.secrets === undefined ? undefined : await readSecrets(values.secrets, terminal);
  if (secrets !== undefined) checkNamespace(secrets, fluxConfig?.namespace ?? shoot?.metadata.namespace);
  const landscape = await read(values.config, (document, file) => readLandscape(fromConfigFile(file, document ?? {})));
  return forShoot({ distribution, secrets, config: { landscape, fluxConfig }, shoot }, shoot, providerConfig);
}

function forShoot(inputs: CliInputs, shoot: Shoot | undefined, providerConfig: unknown): CliInputs {
  const config = { ...inputs.config, ...(shoot && shootInputs(shoot)), providerConfig };
  return { ...inputs, shoot, config: { ...config, ...projectSecretsIn(inputs.secrets, config) } };
}

/** Returns what the configuration takes from a Shoot. */
export function shootInputs(shoot: Shoot) {
  return {
    ...{ shoot: shootTraits(shootCluster(shoot)), providerConfig: ownProviderConfig(shoot) },
    shootResources: shootResourcesOf(shoot.spec?.resources),
  };
}

/** Returns the namespaces of a Shoot and of `flux-config`, which counts only for Shoots beside it, if they differ. */
export function otherNamespaces(
  namespace: unknown,
  { fluxConfig }: ConfigInputs,
): { ofShoot: string; ofConfig: string } | undefined {
  const ofConfig = fluxConfig?.namespace ?? '';
  if (typeof namespace !== 'string' || ofConfig === '' || namespace === ofConfig) return undefined;
  return { ofShoot: shown(namespace), ofConfig: shown(ofConfig) };
}

/** Returns the Secrets of the project that count for this configuration. */
function projectSecretsIn(
  secrets: GivenSecrets | undefined,
  config: ConfigInputs,
): Pick<ConfigInputs, 'projectSecrets'> {
  if (secrets === undefined) return {};
  const namespace = config.fluxConfig?.namespace ?? '';
  const found = neededProjectSecrets(config).flatMap((name) => {
    const secret = secrets.objects.get(`Secret/${name}`);
    return secret === undefined ? [] : [projectSecretOf(name, namespace, secret)];
  });
  return { projectSecrets: found };
}

const name = z.optional(z.string());
const required = (example: string) => requiredKey(z.string(), { description: '', example });
const resourceRef = requiredKey(
  z.looseObject({ apiVersion: required('v1'), kind: required('Secret'), name: required('fleet-credentials') }),
  { description: '', example: '{ apiVersion: v1, kind: Secret, name: fleet-credentials }' },
);

/** The fields of a Shoot that are read. No API server has validated the file, so only these are checked. */
const shootSchema = z.looseObject({
  metadata: z.optional(z.looseObject({ name, namespace: name, labels: z.optional(z.record(z.string(), z.string())) })),
  spec: z.optional(
    z.looseObject({
      kubernetes: z.optional(z.looseObject({ version: name })),
      extensions: z.optional(z.array(z.looseObject({ type: z.string() }))),
      resources: z.optional(z.array(z.looseObject({ name: required('fleet-credentials'), resourceRef }))),
    }),
  ),
  status: z.optional(z.looseObject({ technicalID: name, uid: name, clusterIdentity: name })),
});

/** Strict, because a misspelt `data` is an empty configuration. The values of `data` are checked later, with its keys. */
export const configMapSchema = z.strictObject({
  apiVersion: z.optional(z.literal('v1')),
  kind: z.literal('ConfigMap'),
  metadata: z.optional(z.looseObject({ name: z.optional(z.literal('flux-config')), namespace: name })),
  data: z.optional(z.looseObject({})),
  binaryData: z.optional(z.looseObject({})),
  immutable: z.optional(z.boolean()),
});

function fluxConfigOf(document: unknown, file: string, shoot: Shoot | undefined): FluxConfigMap {
  if (kindOf(document) !== 'ConfigMap') throw wrongKind(file, 'ConfigMap', '--flux-config');
  const configMap = checked(document, configMapSchema, file);
  return fluxConfigMapOf(configMap.metadata?.namespace ?? shoot?.metadata.namespace ?? '', configMap);
}

function shootOf(document: unknown, file: string): Shoot {
  if (kindOf(document) !== 'Shoot') throw wrongKind(file, 'Shoot', '--shoot');
  const shoot = checked(document, shootSchema, file);
  // A Shoot that has not been created yet may have a generateName instead.
  return { ...shoot, metadata: { name: '', ...shoot.metadata } } as Shoot;
}

/** Remedies for documents of another kind than FluxConfig. */
const elsewhere: Record<string, string> = {
  Shoot: 'pass it to --shoot',
  ConfigMap: 'pass it to --flux-config',
  Extension: 'pass only its spec.providerConfig to --provider-config',
};

function providerConfigOf(document: unknown, file: string): unknown {
  const kind = kindOf(document);
  const remedy = kind !== undefined && Object.hasOwn(elsewhere, kind) ? elsewhere[kind] : undefined;
  if (remedy !== undefined) throw new ShootFluxError(`${file} holds a whole ${kind}; ${remedy}.`);
  return document;
}

function kindOf(document: unknown): string | undefined {
  return asString(asObject(document)?.kind);
}

/** @throws ConfigError with every field of the document that has the wrong form */
function checked<T extends z.ZodMiniType>(document: unknown, schema: T, file: string): z.infer<T> {
  const value = withoutNulls(document);
  const issues = schemaIssues(file, schema, value);
  if (issues.length > 0) throw new ConfigError(issues);
  return value as z.infer<T>;
}

function wrongKind(file: string, kind: string, option: string): ShootFluxError {
  return new ShootFluxError(`${file} is not a ${kind}; pass a file to ${option} that holds one.`);
}

/** Returns the inputs with another Shoot, and its own providerConfig. */
export function withShoot(inputs: CliInputs, document: unknown, file: string): CliInputs {
  const shoot = shootOf(document, file);
  return forShoot(inputs, shoot, ownProviderConfig(shoot));
}

/** Returns what gardenlet would write into the seed for a Shoot. */
export function shootCluster(shoot: Shoot): Cluster {
  const name = shoot.status?.technicalID ?? '';
  return { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Cluster', metadata: { name }, spec: { shoot } };
}

function ownProviderConfig(shoot: Shoot | undefined): unknown {
  return shoot?.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE)?.providerConfig;
}
