import { documentsOf, type FluxConfigMap, fluxConfigMapOf } from '../../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG } from '../../../shared/config/project-config.ts';
import { projectSecretOf } from '../../../shared/config/project-secret-content.ts';
import { neededProjectSecrets } from '../../../shared/config/project-secrets.ts';
import type { Rollout } from '../../../shared/config/rollout.ts';
import { shootResourcesOf } from '../../../shared/config/shoot-resources.ts';
import type { ConfigInputs, Landscape, ProjectSecret } from '../../../shared/config/types.ts';
import { ShootFluxError } from '../../../shared/errors.ts';
import { listManagedResources } from '../../../shared/gardener/managed-resource.ts';
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
import type { Connection } from '../../../shared/kube/connection.ts';
import { ForbiddenError, KubeError, NotFoundError } from '../../../shared/kube/errors.ts';
import { createKubeClient } from '../../../shared/kube/http-client.ts';
import { kubeconfigFile } from '../../../shared/kube/kubeconfig.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { shootLimits } from '../../../shared/kube/transport.ts';
import { describeError } from '../../../shared/runtime/describe-error.ts';
import { shootCluster } from '../../cli/inputs.ts';
import { missingRight } from '../fleet.ts';
import { requestShootAccess } from '../shoot-access.ts';
import type { Subject } from './configuration.ts';
import { readFlux, type SeenFlux } from './flux.ts';

/** An object, or that it may not be read. */
interface Looked {
  isAllowed: boolean;
  object?: KubeObject | undefined;
}

async function look(answer: Promise<KubeObject | undefined>): Promise<Looked> {
  try {
    return { isAllowed: true, object: await answer };
  } catch (error) {
    if (error instanceof ForbiddenError) return { isAllowed: false };
    throw error;
  }
}

/** What the garden shows of a Shoot. */
export interface Garden {
  /** Undefined: it may not be read. */
  shoot: Shoot | undefined;
  line: Line | undefined;
  /** `flux-status`, where it is ours and may be read. */
  statusMap: KubeObject | undefined;
  /** `forbidden`: it may not be read. */
  fluxConfig: FluxConfigMap | undefined | 'forbidden';
  rollout: Rollout | undefined;
}

/** @throws UnseenError where neither the Shoot nor its line may be read, ShootFluxError where it does not exist */
export async function readGarden(garden: KubeClient, { namespace, name }: Subject): Promise<Garden> {
  const [shoot, map, configMap] = await Promise.all([
    look(garden.find(resources.shoots, { namespace, name })),
    look(findStatusMap(garden, namespace)),
    look(garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG })),
  ]);
  if (!shoot.isAllowed && !map.isAllowed) throw missingRight(`read Shoot ${name}`, namespace);
  const statusMap = map.object && isOwn(map.object) ? map.object : undefined;
  const line = publishedLine(statusMap, name);
  if (shoot.object === undefined && (shoot.isAllowed || line === undefined)) {
    throw new ShootFluxError(`Shoot ${namespace}/${name} does not exist; check its name and its project`);
  }
  const fluxConfig = configMap.object && fluxConfigMapOf(namespace, configMap.object);
  return {
    ...{ shoot: shoot.object as Shoot | undefined, line, statusMap },
    fluxConfig: configMap.isAllowed ? fluxConfig : 'forbidden',
    rollout: fluxConfig && documentsOf(fluxConfig).rollout.value,
  };
}

/** Returns the layers of the configuration; a sentence where these credentials do not show one of them. */
export async function readLayers(
  garden: KubeClient,
  { shoot, fluxConfig }: Garden,
  landscape: Landscape | undefined,
  namespace: string,
): Promise<ConfigInputs | string> {
  if (fluxConfig === 'forbidden') return `these credentials may not read ConfigMap ${FLUX_CONFIG}`;
  if (shoot === undefined) return 'these credentials may not read the Shoot, whose providerConfig is a layer';
  const inputs: ConfigInputs = {
    ...{ landscape, fluxConfig, shoot: shootTraits(shootCluster(shoot)) },
    providerConfig: shoot.spec?.extensions?.find(({ type }) => type === EXTENSION_TYPE)?.providerConfig,
    shootResources: shootResourcesOf(shoot.spec?.resources),
  };
  return { ...inputs, projectSecrets: await readProjectSecrets(garden, namespace, inputs) };
}

/** Returns what the configuration may know of the Secrets of the project; undefined where they may not be read. */
async function readProjectSecrets(
  garden: KubeClient,
  namespace: string,
  inputs: ConfigInputs,
): Promise<ProjectSecret[] | undefined> {
  const names = neededProjectSecrets(inputs);
  const secrets = await Promise.all(names.map((name) => look(garden.find(resources.secrets, { namespace, name }))));
  if (secrets.some(({ isAllowed }) => !isAllowed)) return undefined;
  return names.flatMap((name, index) => {
    const object = secrets[index]?.object;
    return object === undefined ? [] : [projectSecretOf(name, namespace, object)];
  });
}

/** What the seed shows of a Shoot. */
export interface Seed {
  extension: Extension | 'missing';
  managedResources: ManagedResource[];
}

/** Reads our objects in a control plane. @returns a sentence where that is not possible */
export async function readSeed(file: string, { status }: Shoot): Promise<Seed | string> {
  const namespace = status?.technicalID;
  if (!namespace) return 'the Shoot has no control plane yet';
  const seed = createKubeClient(await kubeconfigFile(file), { name: 'the seed' });
  try {
    const extension = await seed.find(resources.extensions, { namespace, name: EXTENSION_TYPE });
    const managedResources = await listManagedResources(seed, namespace);
    return { extension: extension === undefined ? 'missing' : extensionOf(extension), managedResources };
  } catch (error) {
    if (error instanceof KubeError) return describeError(error);
    throw error;
  } finally {
    seed.close();
  }
}

/** What the shoot shows, how it was read, and the flags with which kubectl reaches it. */
export interface ShootSeen {
  flux: SeenFlux;
  how: string;
  flags: string[];
}

/** Where members write a kubeconfig of their own for the commands (docs/command.md). */
const SHOOT_KUBECONFIG = 'shoot.kubeconfig';

/**
 * Reads Flux in the shoot: with a kubeconfig, or with credentials that the garden gives for ten minutes. A viewer sees
 * kinds that are newer than the last reconciliation of the Shoot only after the next one; then an administrator is asked.
 * @returns a sentence where that is not possible
 */
export async function readShoot(
  garden: Connection,
  { namespace, name }: Subject,
  record: Applied,
  file: string | undefined,
  now: Date,
): Promise<ShootSeen | string> {
  const requested = (['viewer', 'admin'] as const).map((as) => ({
    how: `Read with a kubeconfig of ${as === 'admin' ? 'an admin' : 'a viewer'} that expires after 10 minutes.`,
    forbidden: 'these credentials may not create shoots/viewerkubeconfig or shoots/adminkubeconfig',
    open: () => requestShootAccess(garden, { namespace, name }, as),
  }));
  const ways =
    file === undefined
      ? requested
      : [
          {
            how: `Read with ${file}.`,
            forbidden: `the user of ${file} may not list what Flux has`,
            open: () => kubeconfigFile(file),
          },
        ];
  let problem = '';
  for (const { how, forbidden, open } of ways) {
    try {
      const flux = await readAt(await open(), record, now);
      return { flux, how, flags: ['--kubeconfig', file ?? SHOOT_KUBECONFIG] };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      problem = error instanceof ForbiddenError ? forbidden : describeError(error);
      if (!(error instanceof ForbiddenError || error instanceof NotFoundError)) break;
    }
  }
  return problem;
}

async function readAt(connection: Connection, record: Applied, now: Date): Promise<SeenFlux> {
  const shoot = createKubeClient(connection, { name: 'the shoot', limits: shootLimits });
  try {
    return await readFlux(shoot, record, now);
  } finally {
    shoot.close();
  }
}
