import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { ShootFluxError } from '../../shared/errors.ts';
import type { Connection } from '../../shared/kube/connection.ts';
import { createKubeClient, type HttpKubeClient, type KubeClientOptions } from '../../shared/kube/http-client.ts';
import { kubeconfigTarget } from '../../shared/kube/kubeconfig.ts';
import { DNS_LABEL, resources } from '../../shared/kube/resource.ts';
import { connectionOf, IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import { entriesAt, textAt } from '../../shared/shapes.ts';
import { type Option, text, UsageError, type Values, type Variables } from '../cli/option.ts';
import { orForbidden } from './fleet.ts';
import { commandLine } from './kubectl.ts';

/** Options that say which garden a person looks at, and which of its projects, as kubectl and gardenctl have them. */
export const targetOptions = {
  kubeconfig: text('FILE', 'Kubeconfig of the garden.', { default: 'as kubectl: KUBECONFIG, or ~/.kube/config' }),
  context: text('NAME', 'Context of the kubeconfig.', { default: 'its current context' }),
  garden: text('NAME', "A garden of gardenctl's configuration, or a kubeconfig of the garden."),
  project: text('NAME', 'The project.'),
  namespace: text('NAMESPACE', "The project's namespace in the garden.", {
    short: 'n',
    default: 'that of the context',
  }),
} as const satisfies Record<string, Option>;

export const allNamespacesOption = {
  'all-namespaces': { type: 'boolean', short: 'A', description: 'All projects; needs the rights of an operator.' },
} as const satisfies Record<string, Option>;

/** Commands for people give a distant or busy API server more time to accept a connection than services do. */
export const patience = { connectTimeoutMs: 10_000 } as const;

/** Connects a command for people to a cluster. */
export function connect(connection: Connection, options: KubeClientOptions): HttpKubeClient & Disposable {
  const client = createKubeClient(connection, { ...options, ...patience });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

/** The garden as somebody sees it. */
export type Target = Awaited<ReturnType<typeof openTarget>>;

type TargetValues = Values<typeof targetOptions> & { 'all-namespaces'?: boolean };

/** Connects to the garden. @throws UsageError, or ShootFluxError for a kubeconfig that cannot be used */
export async function openTarget(values: TargetValues, environment: Variables) {
  const { project, namespace, 'all-namespaces': isAll = false } = values;
  const places = { '--project': project, '--namespace': namespace, '--all-namespaces': isAll || undefined };
  const [one, other] = Object.entries(places).filter(([, value]) => value !== undefined);
  if (one !== undefined && other !== undefined) throw new UsageError(`omit ${one[0]} or ${other[0]}`);
  const name = project ?? namespace;
  if (name !== undefined && !DNS_LABEL.test(name))
    throw new UsageError(`"${name}" is not the name of a ${project === undefined ? 'namespace' : 'project'}`);
  const { path, context } = await kubeconfigOf(values, environment);
  const { connection, namespace: usual } =
    path === IN_CLUSTER
      ? { connection: await connectionOf(path), namespace: undefined }
      : await kubeconfigTarget(path, context);
  if (!isAll && name === undefined && usual === undefined)
    throw new UsageError(`${path} names no namespace; add --project NAME, --namespace NAMESPACE or --all-namespaces`);
  using opening = new DisposableStack();
  const garden = opening.use(connect(connection, { name: 'garden' }));
  const found = project === undefined ? (namespace ?? usual) : await namespaceOf(garden, project);
  const isNamed = values.kubeconfig !== undefined || values.garden !== undefined;
  const given = Object.entries(values).filter(([option, value]) => option in targetOptions && value !== undefined);
  const opened = opening.move();
  return {
    garden,
    /** Namespace of the project; undefined: all of them. */
    namespace: isAll ? undefined : found,
    /** Returns a command line for the same target, for example `shoot-flux status --project foo`. */
    repeat: (command: string) =>
      commandLine([
        'shoot-flux',
        ...command.split(' '),
        ...given.flatMap(([option, value]) => [`--${option}`, `${value}`]),
      ]),
    /** With which kubectl reaches the garden. */
    flags: [...(isNamed ? ['--kubeconfig', path] : []), ...(context === undefined ? [] : ['--context', context])],
    [Symbol.dispose]: () => opened.dispose(),
  };
}

/** Returns the namespace of a project; the usual one where members may not read the Project. */
async function namespaceOf(garden: HttpKubeClient, name: string): Promise<string> {
  const project = await orForbidden(garden.find(resources.projects, { name }));
  if (project === undefined) throw new ShootFluxError(`Project ${name} does not exist; check its name`);
  return textAt(project, 'spec', 'namespace') || (name === 'garden' ? name : `garden-${name}`);
}

/** As kubectl takes it; of several files in KUBECONFIG, the first one that exists. */
async function kubeconfigOf({ kubeconfig, context, garden }: TargetValues, environment: Variables) {
  const home = environment.HOME ?? homedir();
  if (garden !== undefined && kubeconfig !== undefined) throw new UsageError('omit --garden or --kubeconfig');
  if (garden !== undefined) {
    const entry = await gardenctlGarden(garden, home, environment);
    return { path: entry.path, context: context ?? entry.context };
  }
  const usual = environment.KUBECONFIG || join(home, '.kube', 'config');
  const files = kubeconfig === undefined ? usual.split(delimiter) : [kubeconfig];
  return { path: files.find((file) => existsSync(file)) ?? files[0] ?? usual, context };
}

/** Returns the kubeconfig of a garden in gardenctl's configuration, by identity or alias; else the name is that of a file. */
async function gardenctlGarden(name: string, home: string, { GCTL_HOME, GCTL_CONFIG_NAME }: Variables) {
  const file = join(GCTL_HOME ?? join(home, '.garden'), `${GCTL_CONFIG_NAME ?? 'gardenctl-v2'}.yaml`);
  const content = await readFile(file, 'utf8').catch(() => '');
  let parsed: unknown;
  try {
    parsed = parseYaml(content, { logLevel: 'error' });
  } catch {
    throw new ShootFluxError(`${file} is not YAML; correct it, or name the garden with --kubeconfig FILE`);
  }
  const gardens = entriesAt(parsed, 'gardens');
  const found = gardens.find(({ identity, name: own, alias }) => [identity, own, alias].includes(name));
  const path = textAt(found, 'kubeconfig')?.replace(/^~(?=\/)/, home) ?? name;
  return { path, context: textAt(found, 'context') };
}
