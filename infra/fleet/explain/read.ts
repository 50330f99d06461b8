import { documentsOf, type FluxConfigMap, fluxConfigMapOf } from '../../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG } from '../../../shared/config/project-config.ts';
import { projectSecretOf } from '../../../shared/config/project-secret-content.ts';
import { neededProjectSecrets } from '../../../shared/config/project-secrets.ts';
import type { Rollout } from '../../../shared/config/rollout.ts';
import { shootResourcesOf } from '../../../shared/config/shoot-resources.ts';
import type { ConfigInputs, Landscape } from '../../../shared/config/types.ts';
import { ShootFluxError } from '../../../shared/errors.ts';
import { listManagedResources } from '../../../shared/gardener/managed-resource.ts';
import { isHibernated } from '../../../shared/gardener/operation.ts';
import { extensionOf } from '../../../shared/gardener/read-objects.ts';
import { shootTraits } from '../../../shared/gardener/shoot-facts.ts';
import { findStatusMap, isOwn, type Line, publishedLine } from '../../../shared/gardener/status-map.ts';
import {
  type Applied,
  EXTENSION_TYPE,
  type Extension,
  type ManagedResource,
  type Shoot,
} from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { ForbiddenError, KubeError, NotFoundError } from '../../../shared/kube/errors.ts';
import { createKubeClient, type HttpKubeClient } from '../../../shared/kube/http-client.ts';
import { kubeconfigFile } from '../../../shared/kube/kubeconfig.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { shootLimits } from '../../../shared/kube/transport.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { shootCluster } from '../../cli/inputs.ts';
import { missingRight } from '../fleet.ts';
import { requestShootAccess } from '../shoot-access.ts';
import { patience } from '../target.ts';
import type { Subject } from './configuration.ts';
import { readFlux, type SeenFlux } from './flux.ts';

/** What the garden shows of a Shoot. Undefined is what does not exist, or may not be read. */
export interface Garden {
  shoot: Shoot | undefined;
  line: Line | undefined;
  /** `flux-status`, where it is ours. */
  statusMap: KubeObject | undefined;
  fluxConfig: FluxConfigMap | undefined | 'forbidden';
  rollout: Rollout | undefined;
}

const orForbidden = <T>(answer: Promise<T>): Promise<T | 'forbidden'> =>
  answer.catch((error: unknown) => {
    if (error instanceof ForbiddenError) return 'forbidden';
    throw error;
  });

/** @throws UnseenError where neither the Shoot nor its line may be read, ShootFluxError where it does not exist */
export async function readGarden(garden: KubeClient, { namespace, name }: Omit<Subject, 'flags'>): Promise<Garden> {
  const [shoot, map, configMap] = await Promise.all([
    orForbidden(garden.find(resources.shoots, { namespace, name })),
    orForbidden(findStatusMap(garden, namespace)),
    orForbidden(garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG })),
  ]);
  const statusMap = typeof map === 'object' && isOwn(map) ? map : undefined;
  const line = publishedLine(statusMap, name);
  if (shoot === 'forbidden' && line === undefined) throw missingRight(`read Shoot ${name}`, namespace);
  if (shoot === undefined) {
    throw new ShootFluxError(`Shoot ${namespace}/${name} does not exist; check its name and its project`);
  }
  const fluxConfig = typeof configMap === 'object' ? fluxConfigMapOf(namespace, configMap) : configMap;
  const rollout = typeof fluxConfig === 'object' ? documentsOf(fluxConfig).rollout.value : undefined;
  return {
    shoot: shoot === 'forbidden' ? undefined : (shoot as unknown as Shoot),
    line,
    statusMap,
    fluxConfig,
    rollout,
  };
}

/** Returns the layers of the configuration; a sentence where these credentials do not show one of them. */
export async function readLayers(
  garden: KubeClient,
  { shoot, fluxConfig }: Garden,
  landscape: Landscape | undefined,
  namespace: string,
): Promise<ConfigInputs | string> {
  if (fluxConfig === 'forbidden' || shoot === undefined) {
    return 'these credentials may not read the Shoot and ConfigMap flux-config; ask for the role of a member';
  }
  const inputs: ConfigInputs = {
    ...{ landscape, fluxConfig, shoot: shootTraits(shootCluster(shoot)) },
    providerConfig: shoot.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE)?.providerConfig,
    shootResources: shootResourcesOf(shoot.spec?.resources),
  };
  const secrets = await Promise.all(
    neededProjectSecrets(inputs).map(async (name) => {
      const secret = await orForbidden(garden.find(resources.secrets, { namespace, name }));
      return typeof secret === 'object' ? [projectSecretOf(name, namespace, secret)] : (secret ?? []);
    }),
  );
  return secrets.includes('forbidden')
    ? inputs
    : { ...inputs, projectSecrets: secrets.flat() as ConfigInputs['projectSecrets'] };
}

/** What the seed shows of a Shoot, and the flags with which kubectl reaches it. */
export interface Seed {
  /** The control plane. */
  namespace: string;
  flags: string[];
  extension: Extension | undefined;
  managedResources: ManagedResource[];
}

/** Reads our objects in a control plane. @returns a sentence where that is not possible */
export async function readSeed(file: string | undefined, shoot: Shoot | undefined): Promise<Seed | string> {
  if (file === undefined) return 'it is in the seed; --seed-kubeconfig FILE of an operator shows it';
  const namespace = shoot?.status?.technicalID;
  if (!namespace) return 'the Shoot names no control plane, or these credentials may not read it';
  const read = async (seed: KubeClient) => {
    const extension = await seed.find(resources.extensions, { namespace, name: EXTENSION_TYPE });
    const managedResources = await listManagedResources(seed, namespace);
    return {
      namespace,
      flags: ['--kubeconfig', file],
      extension: extension && extensionOf(extension),
      managedResources,
    };
  };
  try {
    return await closing(createKubeClient(await kubeconfigFile(file), { name: 'the seed', ...patience }), read);
  } catch (error) {
    if (error instanceof KubeError) return `${describeError(error)}; check --seed-kubeconfig`;
    throw error;
  }
}

async function closing<T>(client: HttpKubeClient, act: (client: KubeClient) => Promise<T>): Promise<T> {
  try {
    return await act(client);
  } finally {
    client.close();
  }
}

/** What the shoot shows, how it was read, and the flags with which kubectl reaches it. */
export interface ShootSeen {
  flux: SeenFlux;
  how: string;
  flags: string[];
}

/**
 * Reads Flux in the shoot with a kubeconfig, or with one that the garden gives for ten minutes. A viewer sees kinds that
 * are newer than the last reconciliation of the Shoot only after the next one; an admin is asked then.
 * @param file undefined: the garden is asked; `none`: it is not
 * @returns a sentence where that is not possible
 */
export async function readShoot(
  garden: Pick<HttpKubeClient, 'ask'>,
  shoot: Shoot | undefined,
  subject: Subject,
  record: Applied,
  file: string | undefined,
  now: Date,
): Promise<ShootSeen | string> {
  if (shoot !== undefined && isHibernated(shoot)) return 'the Shoot is hibernated';
  if (file === 'none') return 'it is in the shoot; omit --shoot-kubeconfig none to see it';
  const ways =
    file === undefined
      ? (['viewer', 'admin'] as const).map((who) => ({ who, open: () => requestShootAccess(garden, subject, who) }))
      : [{ who: file, open: () => kubeconfigFile(file) }];
  let problem = '';
  for (const { who, open } of ways) {
    try {
      const client = createKubeClient(await open(), { name: 'the shoot', limits: shootLimits, ...patience });
      const flux = await closing(client, (api) => readFlux(api, record, now));
      const how = `Read with ${file ?? `a kubeconfig of ${who === 'admin' ? 'an admin' : 'a viewer'} that expires after 10 minutes`}.`;
      // Where members write one for their own commands (docs/command.md).
      return { flux, how, flags: ['--kubeconfig', file ?? 'shoot.kubeconfig'] };
    } catch (error) {
      if (!(error instanceof (file === undefined ? ShootFluxError : KubeError))) throw error;
      problem =
        error instanceof ForbiddenError ? 'these credentials do not reach into the shoot' : describeError(error);
      if (!(error instanceof ForbiddenError || error instanceof NotFoundError)) break;
    }
  }
  const remedy = 'pass --shoot-kubeconfig FILE, or get the right to create shoots/viewerkubeconfig';
  return `${problem}; ${file === undefined ? remedy : 'check --shoot-kubeconfig'}`;
}
