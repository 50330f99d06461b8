import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { ShootFluxError } from '../../shared/errors.ts';
import { ForbiddenError } from '../../shared/kube/errors.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';
import { kubeconfigTarget } from '../../shared/kube/kubeconfig.ts';
import { DNS_LABEL, type KubeObject, resources } from '../../shared/kube/resource.ts';
import { connectionOf, IN_CLUSTER } from '../../shared/runtime/clusters.ts';
import { isRecord, textAt } from '../../shared/shapes.ts';
import { type Option, text, UsageError, type Values, type Variables } from '../cli/option.ts';

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

/** The garden as somebody sees it. */
export interface Target extends Disposable {
  garden: HttpKubeClient;
  /** Namespace of the project; undefined: all of them. */
  namespace: string | undefined;
  /** How to repeat the target in a command line, for example `--project foo`. */
  flags: string;
  /** The same for kubectl, without the namespace. */
  kubectl: readonly string[];
}

type TargetValues = Values<typeof targetOptions> & { 'all-namespaces'?: boolean };

/** Connects to the garden. @throws UsageError, or ShootFluxError for a kubeconfig that cannot be used */
export async function openTarget(values: TargetValues, environment: Variables): Promise<Target> {
  const { project, namespace, 'all-namespaces': isAll = false } = values;
  const places = { '--project': project, '--namespace': namespace, '--all-namespaces': isAll || undefined };
  const [one, other] = Object.entries(places).filter(([, value]) => value !== undefined);
  if (one !== undefined && other !== undefined) throw new UsageError(`omit ${one[0]} or ${other[0]}`);
  const name = project ?? namespace;
  if (name !== undefined && !DNS_LABEL.test(name)) throw new UsageError(`"${name}" is not the name of a project`);
  const { path, context } = await kubeconfigOf(values, environment);
  const { connection, namespace: usual } =
    path === IN_CLUSTER
      ? { connection: await connectionOf(path), namespace: undefined }
      : await kubeconfigTarget(path, context);
  const garden = createKubeClient(connection, { name: 'garden', ...patience });
  const found = async () => {
    if (isAll) return undefined;
    if (project !== undefined) return namespaceOf(garden, project);
    if (namespace !== undefined) return namespace;
    if (usual !== undefined) return usual;
    throw new UsageError(`${path} names no namespace; add --project NAME, --namespace NAMESPACE or --all-namespaces`);
  };
  try {
    const flags = Object.entries(values).flatMap(([option, value]) =>
      Object.hasOwn(targetOptions, option) && typeof value === 'string' ? [`--${option} ${value}`] : [],
    );
    const isNamed = values.kubeconfig !== undefined || values.garden !== undefined;
    const kubectl = [
      ...(isNamed ? ['--kubeconfig', path] : []),
      ...(context === undefined ? [] : ['--context', context]),
    ];
    const close = () => garden.close();
    return { garden, namespace: await found(), flags: flags.join(' '), kubectl, [Symbol.dispose]: close };
  } catch (error) {
    garden.close();
    throw error;
  }
}

/** Returns the namespace of a project; the usual one where members may not read the Project. */
async function namespaceOf(garden: HttpKubeClient, name: string): Promise<string> {
  const usual = name === 'garden' ? name : `garden-${name}`;
  try {
    const project = await garden.find<KubeObject & { spec?: { namespace?: string } }>(resources.projects, { name });
    if (project === undefined) throw new ShootFluxError(`Project ${name} does not exist; check its name`);
    return textAt(project, 'spec', 'namespace') || usual;
  } catch (error) {
    if (error instanceof ForbiddenError) return usual;
    throw error;
  }
}

/** As kubectl takes it; of several files in KUBECONFIG, the first one that exists. */
async function kubeconfigOf(
  { kubeconfig, context, garden }: TargetValues,
  environment: Variables,
): Promise<{ path: string; context: string | undefined }> {
  if (garden !== undefined && kubeconfig !== undefined) throw new UsageError('omit --garden or --kubeconfig');
  if (garden !== undefined) {
    const entry = await gardenctlGarden(garden, environment);
    return { path: entry?.kubeconfig ?? garden, context: context ?? entry?.context };
  }
  const usual = join(environment.HOME ?? homedir(), '.kube', 'config');
  const files = kubeconfig === undefined ? (environment.KUBECONFIG || usual).split(delimiter) : [kubeconfig];
  for (const path of files) if (await exists(path)) return { path, context };
  return { path: files[0] ?? usual, context };
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Returns the entry of a garden in gardenctl's configuration, by identity or alias. */
async function gardenctlGarden(name: string, environment: Variables) {
  const home = environment.GCTL_HOME ?? join(environment.HOME ?? homedir(), '.garden');
  const file = join(home, `${environment.GCTL_CONFIG_NAME ?? 'gardenctl-v2'}.yaml`);
  const content = await readFile(file, 'utf8').catch(() => undefined);
  const read: unknown = content === undefined ? undefined : parseYaml(content, { logLevel: 'error' });
  const gardens = isRecord(read) && Array.isArray(read.gardens) ? read.gardens.filter(isRecord) : [];
  const found = gardens.find((entry) => entry.identity === name || entry.name === name || entry.alias === name);
  if (found === undefined || typeof found.kubeconfig !== 'string') return undefined;
  const path = found.kubeconfig.replace(/^~(?=\/)/, environment.HOME ?? homedir());
  return { kubeconfig: path, context: typeof found.context === 'string' ? found.context : undefined };
}
