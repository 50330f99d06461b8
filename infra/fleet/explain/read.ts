import { documentsOf, fluxConfigMapOf } from '../../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG } from '../../../shared/config/project-config.ts';
import { projectSecretOf } from '../../../shared/config/project-secret-content.ts';
import { neededProjectSecrets } from '../../../shared/config/project-secrets.ts';
import type { ConfigInputs, Landscape } from '../../../shared/config/types.ts';
import { ShootFluxError } from '../../../shared/errors.ts';
import { listManagedResources } from '../../../shared/gardener/managed-resource.ts';
import { extensionOf } from '../../../shared/gardener/read-objects.ts';
import { controlPlaneOf, isSelfHosted } from '../../../shared/gardener/shoot-changes.ts';
import { findStatusMap, isOwn, publishedLine } from '../../../shared/gardener/status-map.ts';
import {
  type Applied,
  EXTENSION_TYPE,
  type Extension,
  type ManagedResource,
  type Shoot,
} from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Connection } from '../../../shared/kube/connection.ts';
import { ForbiddenError, KubeError, NotFoundError, unless } from '../../../shared/kube/errors.ts';
import type { HttpKubeClient } from '../../../shared/kube/http-client.ts';
import { kubeconfigConnection, kubeconfigFile } from '../../../shared/kube/kubeconfig.ts';
import { type KubeObject, objectPath, resources } from '../../../shared/kube/resource.ts';
import { shootLimits } from '../../../shared/kube/transport.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { textAt } from '../../../shared/shapes.ts';
import { shootInputs } from '../../cli/inputs.ts';
import { foreignMap, missingRight, orForbidden } from '../fleet.ts';
import type { Place } from '../kubectl.ts';
import { connect } from '../target.ts';
import type { Subject } from './configuration.ts';
import { readFlux, type ShootSeen } from './flux.ts';

/** What the garden shows of a Shoot. Undefined is what does not exist, or may not be read. */
export type Garden = Awaited<ReturnType<typeof readGarden>>;

/** @throws UnseenError where neither the Shoot nor its line may be read, ShootFluxError where it does not exist */
export async function readGarden(garden: KubeClient, { namespace, name }: Subject, landscape?: Landscape) {
  const [shoot, map, configMap] = await Promise.all([
    orForbidden(garden.find<KubeObject & Shoot>(resources.shoots, { namespace, name })),
    orForbidden(findStatusMap(garden, namespace)),
    orForbidden(garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG })),
  ]);
  const statusMap = typeof map === 'object' && isOwn(map) ? map : undefined;
  const line = publishedLine(statusMap, name);
  if (shoot === 'forbidden' && line === undefined) throw missingRight(`read Shoot ${name}`, namespace);
  if (shoot === undefined) {
    throw new ShootFluxError(`Shoot ${namespace}/${name} does not exist; check its name and its project`);
  }
  const fluxConfig = typeof configMap === 'object' ? fluxConfigMapOf(namespace, configMap) : undefined;
  const isSeen = configMap !== 'forbidden' && shoot !== 'forbidden';
  return {
    shoot: shoot === 'forbidden' ? undefined : shoot,
    line,
    /** True: these credentials do not show it. */
    isLineUnseen: map === 'forbidden',
    /** Says that `flux-status` is none of ours. */
    foreign: typeof map === 'object' && statusMap === undefined ? foreignMap(map) : undefined,
    /** `flux-status`, where it is ours. */
    statusMap,
    rollout: fluxConfig && documentsOf(fluxConfig).rollout.value,
    /** The layers of the configuration, or that these credentials do not show one of them. */
    layers: isSeen
      ? await withSecrets(garden, namespace, { landscape, fluxConfig, ...shootInputs(shoot) })
      : 'these credentials may not read the Shoot and ConfigMap flux-config; ask for the role of a member',
  };
}

/** Adds the Secrets of the project that count, where these credentials show them. */
async function withSecrets(garden: KubeClient, namespace: string, inputs: ConfigInputs): Promise<ConfigInputs> {
  const secrets = neededProjectSecrets(inputs).map(async (name) => {
    const secret = await garden.find(resources.secrets, { namespace, name });
    return secret === undefined ? [] : [projectSecretOf(name, namespace, secret)];
  });
  return { ...inputs, projectSecrets: (await unless(Promise.all(secrets), ForbiddenError))?.flat() };
}

/** Our objects in a control plane. */
export interface Seed extends Place {
  extension: Extension | undefined;
  managedResources: ManagedResource[];
}

/** Reads our objects in a control plane. @returns a sentence where that is not possible */
export async function readSeed(file: string | undefined, shoot: Shoot | undefined): Promise<Seed | string> {
  const place = shoot !== undefined && isSelfHosted(shoot) ? 'the Shoot itself' : 'the seed';
  if (file === undefined) return `it is in ${place}; --seed-kubeconfig FILE of an operator shows it`;
  const namespace = shoot && controlPlaneOf(shoot);
  if (!namespace) return 'the Shoot names no control plane, or these credentials may not read it';
  try {
    using seed = connect(await kubeconfigFile(file), { name: 'the seed' });
    const extension = await seed.find(resources.extensions, { namespace, name: EXTENSION_TYPE });
    const managedResources = await listManagedResources(seed, namespace);
    const flags = ['--kubeconfig', file];
    return { namespace, flags, extension: extension && extensionOf(extension), managedResources };
  } catch (error) {
    if (error instanceof KubeError) return `${describeError(error)}; check --seed-kubeconfig`;
    throw error;
  }
}

/**
 * Reads Flux in the shoot with a kubeconfig, or with one that the garden gives for ten minutes. A viewer sees kinds that
 * are newer than the last reconciliation of the Shoot only after the next one; an admin is asked then.
 * @param file undefined: the garden is asked; `none`: it is not
 * @returns a sentence where that is not possible
 */
export async function readShoot(
  garden: Pick<HttpKubeClient, 'ask'>,
  subject: Subject,
  record: Applied,
  file: string | undefined,
  now: Date,
  who: keyof typeof requests = 'viewer',
): Promise<ShootSeen | string> {
  if (file === 'none') return 'it is in the shoot; omit --shoot-kubeconfig none to see it';
  try {
    const connection = file === undefined ? requestAccess(garden, subject, who) : kubeconfigFile(file);
    using shoot = connect(await connection, { name: 'the shoot', limits: shootLimits });
    const requested = `a kubeconfig of ${who === 'admin' ? 'an admin' : 'a viewer'} that expires after 10 minutes`;
    // Where members write one for their own commands (docs/command.md).
    const flags = ['--kubeconfig', file ?? 'shoot.kubeconfig'];
    return { ...(await readFlux(shoot, record, now)), how: `Read with ${file ?? requested}.`, flags };
  } catch (error) {
    // The user did not write what the garden returns.
    if (!(error instanceof (file === undefined ? ShootFluxError : KubeError))) throw error;
    const isForbidden = error instanceof ForbiddenError;
    const isRefused = isForbidden || error instanceof NotFoundError;
    if (file === undefined && who === 'viewer' && isRefused)
      return readShoot(garden, subject, record, file, now, 'admin');
    const problem = isForbidden ? 'these credentials do not reach into the shoot' : describeError(error);
    const right = isRefused ? 'get the right to create shoots/viewerkubeconfig, ' : '';
    return `${problem}; ${file === undefined ? `${right}or pass --shoot-kubeconfig FILE` : 'check --shoot-kubeconfig'}`;
  }
}

/** Viewers of a Shoot read everything except Secrets, administrators may do everything. */
const requests = { viewer: 'ViewerKubeconfigRequest', admin: 'AdminKubeconfigRequest' } as const;

/** Asks the garden for credentials of a shoot that expire after ten minutes, the least that Gardener gives. They stay in memory. */
async function requestAccess(
  garden: Pick<HttpKubeClient, 'ask'>,
  shoot: Subject,
  who: keyof typeof requests,
): Promise<Connection> {
  const answered = await garden.ask(objectPath(resources.shoots, shoot, `${who}kubeconfig`), {
    ...{ apiVersion: 'authentication.gardener.cloud/v1alpha1', kind: requests[who] },
    spec: { expirationSeconds: 600 },
  });
  const kubeconfig = Buffer.from(textAt(answered, 'status', 'kubeconfig') ?? '', 'base64').toString('utf8');
  return kubeconfigConnection(kubeconfig, `The ${who} kubeconfig of Shoot ${shoot.namespace}/${shoot.name}`);
}
