import type { ConfigInputs } from '../../shared/config/effective.ts';
import { EXTENSION_TYPE, type Shoot } from '../../shared/gardener/types.ts';
import { ConfigError, ShootFluxError } from '../../shared/runtime/errors.ts';
import { type Option, type Terminal, UsageError, type Values } from './command.ts';
import { readDocument } from './read-file.ts';

/** Options that `render` and `validate` share. */
export const inputOptions = {
  'flux-distribution': { type: 'string', value: 'DIR', description: 'Folder with one folder per Flux release.' },
  'flux-config': { type: 'string', value: 'FILE', description: 'The ConfigMap flux-config of the project.' },
  'provider-config': { type: 'string', value: 'FILE', description: 'The providerConfig (FluxConfig) of the Shoot.' },
  shoot: {
    type: 'string',
    value: 'FILE',
    description:
      'The Shoot: its resources, Kubernetes version and, without --provider-config, its providerConfig count.',
  },
} as const satisfies Record<string, Option>;

export const inputNotes = 'FILE is YAML or JSON, or - for standard input.';

/** What a Shoot's objects are made from, as far as files tell. */
export interface CliInputs {
  distribution: string;
  config: ConfigInputs;
  shoot: Shoot | undefined;
}

/** Reads the files that the options name. */
export async function readInputs(values: Values<typeof inputOptions>, terminal: Terminal): Promise<CliInputs> {
  const distribution = values['flux-distribution'];
  if (distribution === undefined) throw new UsageError('--flux-distribution is missing');
  const files = [values['flux-config'], values['provider-config'], values.shoot];
  if (files.filter((file) => file === '-').length > 1) throw new UsageError('only one file can be standard input');
  const read = (file: string | undefined) => (file === undefined ? undefined : readDocument(file, terminal));
  const [fluxConfig, providerConfig, shootDocument] = await Promise.all(files.map(read));
  const shoot = shootDocument === undefined ? undefined : shootOf(shootDocument, values.shoot ?? '');
  return {
    distribution,
    shoot,
    config: {
      fluxConfig: fluxConfig === undefined ? undefined : fluxConfigOf(fluxConfig, values['flux-config'] ?? '', shoot),
      providerConfig: values['provider-config'] === undefined ? ownProviderConfig(shoot) : providerConfig,
      shootResources: shoot && resourcesOf(shoot),
    },
  };
}

interface ConfigMap {
  kind?: unknown;
  metadata?: { namespace?: string };
  data?: Record<string, unknown>;
}

function fluxConfigOf(document: unknown, file: string, shoot: Shoot | undefined): ConfigInputs['fluxConfig'] {
  const { kind, metadata, data = {} } = (document ?? {}) as ConfigMap;
  if (kind !== 'ConfigMap') throw wrongKind(file, 'ConfigMap', '--flux-config');
  const issues = Object.entries(data ?? {})
    .filter(([, value]) => typeof value !== 'string')
    .map(([path]) => ({ object: file, path: `data.${path}`, message: 'has to be a text; put it in quotes.' }));
  if (issues.length > 0) throw new ConfigError(issues);
  const namespace = metadata?.namespace ?? shoot?.metadata.namespace ?? '';
  return { namespace, data: (data ?? {}) as Record<string, string> };
}

function shootOf(document: unknown, file: string): Shoot {
  const { kind, metadata } = (document ?? {}) as { kind?: unknown; metadata?: { name?: unknown } };
  if (kind !== 'Shoot' || typeof metadata?.name !== 'string') throw wrongKind(file, 'Shoot with a name', '--shoot');
  return document as Shoot;
}

function wrongKind(file: string, kind: string, option: string): ShootFluxError {
  return new ShootFluxError(`${file}: is no ${kind}: give ${option} a file that holds one.`);
}

function ownProviderConfig(shoot: Shoot | undefined): unknown {
  return shoot?.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE)?.providerConfig;
}

function resourcesOf(shoot: Shoot): NonNullable<ConfigInputs['shootResources']> {
  const resources = shoot.spec?.resources ?? [];
  return resources.map(({ name, resourceRef }) => ({ name, kind: resourceRef.kind, resourceName: resourceRef.name }));
}
