import { fileURLToPath } from 'node:url';
import { ShootFluxError } from '../../../shared/errors.ts';
import { EXTENSION_TYPE } from '../../../shared/gardener/types.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type AnyDefinition, findAllDefinitions } from '../../functions.ts';
import { yaml } from '../manifests.ts';
import { admissionPolicy, identitiesIn, matching, policyObjects } from '../rbac.ts';
import { chartArchive } from './chart-archive.ts';

/** Name of the ControllerRegistration and ControllerDeployment; names of installations begin with it. */
const REGISTRATION = 'shoot-flux';

/** The account that the chart asks for in each seed, or the one that gardenlet injects where it does not. */
const IN_SEED = `seed-[^:]+:(${REGISTRATION}|extension-${REGISTRATION}-[^:]+)`;

/** The account that the chart asks for in a self-hosted Shoot, in the namespace of its project. */
const IN_SELF_HOSTED = `garden(-[^:]+)?:extension-shoot--[^:]+--${REGISTRATION}`;

/** The ServiceAccounts of installations. */
const INSTALLATION = `request.userInfo.username.matches('^system:serviceaccount:(${IN_SEED}|${IN_SELF_HOSTED})$')`;

/** Identities of the garden that no installation in a seed has: what answers its API server and Git hosts runs beside it. */
const NOT_IN_SEEDS = ['admission', 'push-webhook', 'webhooks'];

/** The label of ServiceAccounts with rights in all projects. */
const IN_ALL_PROJECTS = 'controllerregistration.core.gardener.cloud/name';

/**
 * Generates the ClusterRoles that gardener-controller-manager binds to the ServiceAccounts of installations in seeds. A
 * project gives the account of a self-hosted Shoot the same rights in its own namespace, with the role
 * `extension:shoot-flux` of a member (decision 101).
 */
export function gardenRoles(definitions: AnyDefinition[]): KubeObject[] {
  const selector = { matchLabels: { [IN_ALL_PROJECTS]: REGISTRATION } };
  return identitiesIn(definitions, 'garden')
    .filter(({ name }) => !NOT_IN_SEEDS.includes(name))
    .map(({ name, rules }) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: {
        // The binding gets the same name, which must not be one of rbac-garden.yaml.
        name: `extensions.gardener.cloud:${REGISTRATION}:installation:${name}`,
        labels: {
          'authorization.gardener.cloud/custom-extensions-permissions': 'true',
          'rbac.gardener.cloud/aggregate-to-extension-role': REGISTRATION,
        },
        annotations: { 'authorization.gardener.cloud/extensions-serviceaccount-selector': JSON.stringify(selector) },
      },
      rules,
    }));
}

/** Generates everything that installations need in the garden beside Gardener's own objects. */
export function gardenRights(definitions: AnyDefinition[]): KubeObject[] {
  return [
    ...gardenRoles(definitions),
    ...policyObjects(`${REGISTRATION}-installation-secrets`, [INSTALLATION]),
    ...accountPolicy(),
  ];
}

/**
 * Generates the policy that keeps that label from all other ServiceAccounts: whoever administers a self-hosted Shoot
 * decides which labels its gardenlet gives an account, and would read the Secrets of all projects with it.
 */
function accountPolicy(): KubeObject[] {
  const isOfSeed = "object.metadata.namespace.startsWith('seed-')";
  const labels = 'object.metadata.labels';
  const isSelected = `has(${labels}) && '${IN_ALL_PROJECTS}' in ${labels} && ${labels}['${IN_ALL_PROJECTS}'] == '${REGISTRATION}'`;
  return admissionPolicy(`${REGISTRATION}-installation-accounts`, {
    matchConstraints: matching('serviceaccounts', 'CREATE', 'UPDATE'),
    validations: [
      {
        expression: `${isOfSeed} || !(${isSelected})`,
        message: `only accounts in namespaces of seeds may have the label ${IN_ALL_PROJECTS}=${REGISTRATION}`,
      },
    ],
  });
}

/** What a registration refers to. */
export interface Release {
  version: string;
  /** Host and path of the registry, for example `registry.example.com/gardener`. */
  registry: string;
  /** Values of the chart for seeds, which take precedence. */
  values?: Record<string, unknown> | undefined;
  /** Digests of image and charts by name, for example `registry.example.com/shoot-flux`. Absent: only tags are named. */
  digests?: ReadonlyMap<string, string> | undefined;
  settings?: Settings | undefined;
  /** ConfigMaps and Secrets in namespace `garden` by the names with which values refer to them. */
  resources?: Record<string, { kind: string; name: string }> | undefined;
}

/** What operators choose of Gardener's own fields; absent ones have Gardener's defaults. */
export interface Settings {
  autoEnable?: string[];
  clusterCompatibility?: string[];
  reconcileTimeout?: string;
  policy?: string;
}

/**
 * Reads the names with digests that `npm run publish-release` writes, one in a line.
 * @throws ShootFluxError for a line with something else
 */
export function digestsIn(published: string): Map<string, string> {
  return new Map(
    published
      .trim()
      .split('\n')
      .map((line): [string, string] => {
        const [, name, digest] = /^(\S+)@(sha256:[0-9a-f]{64})$/.exec(line.trim()) ?? [];
        if (name !== undefined && digest !== undefined) return [name, digest];
        throw new ShootFluxError(
          `${JSON.stringify(line)} is not a name with its digest; write lines like registry.example.com/shoot-flux@sha256:….`,
        );
      }),
  );
}

/** @throws ShootFluxError if digests are known, but not that of this name */
function digestOf({ digests }: Release, name: string): string | undefined {
  const digest = digests?.get(name);
  if (digest !== undefined || digests === undefined) return digest;
  throw new ShootFluxError(`the digest of ${name} is missing; name the file PUBLISHED of a release in this registry.`);
}

/** What Gardener knows about the kind and type. The other fields keep their defaults. */
const resource = {
  kind: 'Extension',
  type: EXTENSION_TYPE,
  // Nothing waits for nodes. A deletion suspends Flux while the API server of the shoot still answers.
  lifecycle: { reconcile: 'AfterKubeAPIServer', delete: 'BeforeKubeAPIServer', migrate: 'BeforeKubeAPIServer' },
  // The controllers of Flux need nodes.
  workerlessSupported: false,
};

function resourceOf({ settings: { policy: _, ...chosen } = {} }: Release): object {
  return { ...resource, ...chosen };
}

/** Returns the field with the objects to which values refer as `{{ .resources.NAME.data.KEY }}`. */
function resourcesOf({ resources = {} }: Release): object {
  const references = Object.entries(resources).map(([name, { kind, name: object }]) => ({
    name,
    resourceRef: { apiVersion: 'v1', kind, name: object },
  }));
  return references.length > 0 ? { resources: references } : {};
}

const policyOf = ({ settings }: Release) => settings?.policy ?? 'OnDemand';

/** gardenlet labels the namespace of each installation with it. */
const metadata = {
  name: REGISTRATION,
  annotations: { 'security.gardener.cloud/pod-security-enforce': 'restricted' },
};

function seedValues(release: Release): Record<string, unknown> {
  const { values = {}, registry, version } = release;
  const repository = `${registry}/shoot-flux`;
  const own = { ...(values.image as { tag?: unknown } | undefined) };
  // A digest takes precedence over a tag, also over another one.
  const digest = own.tag === undefined ? digestOf(release, repository) : undefined;
  return { ...values, image: { repository, tag: version, ...(digest !== undefined && { digest }), ...own } };
}

/** Values of the chart for seeds that admission has, too: its Pods run the same image and judge by the same rules. */
const COMMON = ['image', 'imagePullSecrets', 'imageVectorOverwrite', 'defaults', 'policy', 'addons'];

/** Keys of the config file that mean the same there. */
const COMMON_CONFIG = ['defaults', 'policy', 'addons', 'pushUrl'];

function admissionValues(release: Release): Record<string, unknown> {
  const values = seedValues(release);
  const config = pick(values.config, COMMON_CONFIG);
  return { ...pick(values, COMMON), ...(Object.keys(config).length > 0 && { config }) };
}

function pick(from: unknown, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => names.includes(name)));
}

/**
 * Generates the objects that register the extension in a garden without gardener-operator.
 * @param chart the packed chart, for landscapes without a registry of charts. Absent: it is pulled
 */
export function registrationObjects(definitions: AnyDefinition[], release: Release, chart?: Buffer): KubeObject[] {
  const source =
    chart === undefined
      ? { ociRepository: { ref: chartReference(release, 'shoot-flux') } }
      : { rawChart: chart.toString('base64') };
  return [
    ...gardenRights(definitions),
    {
      apiVersion: 'core.gardener.cloud/v1',
      kind: 'ControllerDeployment',
      metadata: { name: REGISTRATION },
      helm: { ...source, values: seedValues(release) },
      injectGardenKubeconfig: true,
      ...resourcesOf(release),
    },
    {
      apiVersion: 'core.gardener.cloud/v1beta1',
      kind: 'ControllerRegistration',
      metadata,
      spec: {
        deployment: { policy: policyOf(release), deploymentRefs: [{ name: REGISTRATION }] },
        resources: [resourceOf(release)],
      },
    },
  ];
}

/** Generates the object that registers the extension in a landscape with gardener-operator, with its admission. */
export function operatorExtension(release: Release): KubeObject {
  const helm = (chart: string) => ({ helm: { ociRepository: { ref: chartReference(release, chart) } } });
  return {
    apiVersion: 'operator.gardener.cloud/v1alpha1',
    kind: 'Extension',
    metadata,
    spec: {
      resources: [resourceOf(release)],
      deployment: {
        ...resourcesOf(release),
        extension: {
          ...helm('shoot-flux'),
          policy: policyOf(release),
          injectGardenKubeconfig: true,
          values: seedValues(release),
        },
        admission: {
          runtimeCluster: helm('shoot-flux-admission-runtime'),
          virtualCluster: helm('shoot-flux-admission-application'),
          values: admissionValues(release),
        },
      },
    },
  };
}

function chartReference(release: Release, chart: string): string {
  const name = `${release.registry}/charts/${chart}`;
  const digest = digestOf(release, name);
  return `${name}:${release.version}${digest === undefined ? '' : `@${digest}`}`;
}

/**
 * Generates the Extension as a template for gardener-landscape-kit, which fills in the version, the image and the charts
 * of a component descriptor.
 */
export function landscapeKitTemplate(release: Release): string {
  const image = '.resources.image.ociImage.ref';
  const expressions = {
    repository: `regexReplaceAll "[:@][^/]*$" ${image} ""`,
    tag: '.version',
    digest: `regexFind "sha256:[0-9a-f]+" ${image}`,
  };
  const lines = Object.entries(expressions).map(([key, expression]) => `${key}: {{ ${expression} }}\n`);
  // Its resources have names in camel case.
  const resource = (chart: string) => chart.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  return yaml([operatorExtension(release)], 'a template for gardener-landscape-kit', '"npm run release"')
    .replaceAll(/ref: .*\/(.+):.*/g, (_, chart: string) => `ref: {{ .resources.${resource(chart)}.helmChart.ref }}`)
    .replaceAll(/( +)repository: .*\n +tag: .*\n/g, (_, indent: string) => lines.map((line) => indent + line).join(''));
}

export const EXAMPLES = new URL('../../../example/', import.meta.url);

/** The release of the examples: the version of the charts, in a registry to be replaced. */
export const EXAMPLE: Release = { version: '0.1.0', registry: 'registry.example.com' };

const CHART = new URL('../../../charts/shoot-flux/', import.meta.url);

/** A registration that pulls the chart, one that contains it, or that of gardener-operator. */
type Form = 'pull' | 'inline' | 'operator';

/** Generates the registration of a release as a file. */
export async function registration(release: Release, form: Form): Promise<string> {
  if (form === 'operator') return written([operatorExtension(release)]);
  const chart = form === 'inline' ? (await chartArchive(fileURLToPath(CHART), release.version)).archive : undefined;
  return written(registrationObjects(await findAllDefinitions(), release, chart));
}

/** Generates the registrations of a release that pull its charts, by file name. */
export async function registrationFiles(release: Release = EXAMPLE): Promise<Record<string, string>> {
  return {
    'controller-registration.yaml': await registration(release, 'pull'),
    'operator-extension.yaml': await registration(release, 'operator'),
  };
}

const written = (objects: KubeObject[]) => yaml(objects, '', '"npm run docs" and "npm run registration"');
