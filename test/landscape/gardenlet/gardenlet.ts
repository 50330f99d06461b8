import { errorMessage, type KubeClient, type KubeObject, type ObjectName, resources } from '../client/client.ts';
import { seconds } from '../controllers/work-queue.ts';
import type { LastOperation, ManagedResource } from '../gardener/types.ts';
import { cleanShoot } from './clean-up.ts';
import {
  accessSecrets,
  clusterOf,
  extensionOf,
  type GardenShoot,
  namespaceOf,
  resourceManagerDeployment,
  technicalIdOf,
} from './control-plane.ts';
import { createExtensionOperations, type ExtensionState } from './extension.ts';
import { createWaits } from './wait.ts';

/** Starts and stops API server, resource-manager and nodes of a shoot for gardenlet. All methods are idempotent. */
export interface ControlPlanes {
  /** Starts API server and resource-manager. */
  wake(technicalId: string): Promise<{ kubeconfig: string; client: KubeClient }>;
  /** Stops both; the API server's objects stay. */
  sleep(technicalId: string): Promise<void>;
  /** Starts the nodes: Deployments become available, Flux runs. */
  joinNodes(technicalId: string): Promise<void>;
  removeNodes(technicalId: string): Promise<void>;
  /** Removes everything, also the API server's objects. */
  remove(technicalId: string): Promise<void>;
}

export interface GardenletOptions {
  garden: KubeClient;
  seed: KubeClient;
  seedName: string;
  controlPlanes: ControlPlanes;
  /** `reconcileTimeout` of the registration, in ms. Default 3 min. */
  reconcileMs?: number;
  /** Called before each step of a flow. */
  onStep?(shoot: string, step: string): void;
}

export type Gardenlet = ReturnType<typeof createGardenlet>;

const fieldManager = 'gardenlet';
const FINALIZER = 'gardener';

/** gardenlet of one seed, driven Shoot by Shoot; every flow may be retried, except a restoration. */
export function createGardenlet(options: GardenletOptions) {
  const { garden, seed, seedName, controlPlanes } = options;
  const waits = createWaits(seed, options.reconcileMs);
  const extensions = createExtensionOperations(seed);

  const read = async (name: ObjectName) => {
    const shoot = await garden.find<GardenShoot>(resources.shoots, name);
    if (shoot === undefined) throw new Error(`Shoot ${name.namespace}/${name.name} is not in the garden`);
    return shoot;
  };
  const patchShoot = (name: ObjectName, patch: object) =>
    garden.mergePatch<GardenShoot>(resources.shoots, name, patch, { fieldManager });
  const apply = (object: KubeObject) => {
    const kind = Object.values(resources).find(({ kind }) => kind === object.kind);
    if (kind === undefined) throw new Error(`gardenlet does not apply ${object.kind}`);
    return seed.apply(kind, object, { fieldManager });
  };
  const syncCluster = async (name: ObjectName) => apply(clusterOf(await read(name), seedName));

  const begin = async (name: ObjectName, type: LastOperation['type']) => {
    const shoot = await read(name);
    const technicalID = shoot.status?.technicalID ?? technicalIdOf(shoot);
    const uid = shoot.status?.uid ?? shoot.metadata.uid ?? '';
    const clusterIdentity = `${technicalID}-${uid}-landscape`;
    const finalizers = [...new Set([...(shoot.metadata.finalizers ?? []), FINALIZER])];
    const status = { technicalID, uid, clusterIdentity, seedName, lastOperation: operation(type, 'Processing', 0) };
    const deleting = shoot.metadata.deletionTimestamp !== undefined;
    const patch = { ...(deleting ? {} : { metadata: { finalizers } }), spec: { seedName }, status };
    const begun = await patchShoot(name, patch);
    await apply(namespaceOf(begun));
    await syncCluster(name);
    return { shoot: begun, namespace: technicalID };
  };

  /** Runs a flow and writes the result into the Shoot's status and the Cluster. */
  const run = async (name: ObjectName, type: LastOperation['type'], flow: Flow): Promise<void> => {
    try {
      const begun = await begin(name, type);
      const step = (text: string) => options.onStep?.(begun.namespace, text);
      await flow({ ...begun, step });
      if ((await garden.find(resources.shoots, name)) !== undefined) {
        await patchShoot(name, { status: { lastOperation: operation(type, 'Succeeded', 100), lastErrors: null } });
      }
    } catch (error) {
      const lastErrors = [{ description: errorMessage(error), lastUpdateTime: now() }];
      await patchShoot(name, { status: { lastOperation: operation(type, 'Error', 50), lastErrors } }).catch(() => {});
      await syncCluster(name).catch(() => {});
      throw error;
    }
  };

  const deployControlPlane = async (namespace: string) => {
    await apply(resourceManagerDeployment(namespace));
    const { kubeconfig, client } = await controlPlanes.wake(namespace);
    for (const secret of accessSecrets(namespace, kubeconfig)) await apply(secret);
    return client;
  };

  const nilClassLeft = async (namespace: string) => {
    const { items } = await seed.list<ManagedResource>(resources.managedResources, { namespace });
    return items.filter(({ spec }) => !spec.class).map(({ metadata }) => metadata.name);
  };

  /** Deletes the namespace with everything in it; no namespace controller is needed. */
  const removeNamespace = async (namespace: string) => {
    const kinds = [resources.secrets, resources.configMaps, resources.deployments];
    for (const kind of kinds) {
      const { items } = await seed.list(kind, { namespace });
      for (const { metadata } of items) await seed.delete(kind, metadata);
    }
    await seed.delete(resources.clusters, { name: namespace });
    await seed.delete(resources.namespaces, { name: namespace });
  };

  const destroyExtension = async (namespace: string) => {
    await extensions.destroy(namespace);
    await waits.untilGone(namespace);
  };

  const reconcile: Flow = async ({ shoot, namespace, step }) => {
    const name = nameOfShoot(shoot);
    const hibernated = shoot.status?.hibernated === true;
    const hibernate = shoot.spec?.hibernation?.enabled === true;
    const isNew = !(await seed.find(resources.secrets, { namespace, name: 'gardener' }));
    if (!hibernate || !hibernated) {
      step('API server and resource-manager run');
      await deployControlPlane(namespace);
    }
    if (!isNew && hibernated && !hibernate) await controlPlanes.joinNodes(namespace);
    const extension = extensionOf(shoot);
    if (extension !== undefined) {
      step('Extension reconciled');
      const timestamp = await extensions.deploy(namespace, extension.providerConfig);
      await waits.untilReady(namespace, timestamp);
    } else {
      await destroyExtension(namespace);
    }
    if (hibernate && !hibernated) {
      step('hibernated');
      await controlPlanes.removeNodes(namespace);
      await controlPlanes.sleep(namespace);
    } else if (isNew && !hibernate) {
      // When a Shoot is created, workers come after the extensions (trap 15).
      step('nodes join');
      await controlPlanes.joinNodes(namespace);
    }
    await patchShoot(name, { status: { hibernated: hibernate } });
  };

  return {
    /** Creates or reconciles the Shoot: hibernates it, wakes it up, adds and removes the extension, as its spec says. */
    async reconcile(name: ObjectName) {
      const known = await read(name);
      const created = known.status?.lastOperation;
      const type =
        created === undefined || (created.type === 'Create' && created.state !== 'Succeeded') ? 'Create' : 'Reconcile';
      await run(name, type, reconcile);
      await syncCluster(name);
    },

    /** Deletes the Shoot and its control plane. `force` stands for the annotation for force deletion. */
    async delete(name: ObjectName, { force = false } = {}) {
      if (force) {
        const annotations = { 'confirmation.gardener.cloud/force-deletion': 'true' };
        await patchShoot(name, { metadata: { annotations } });
      }
      await patchShoot(name, { metadata: { annotations: { 'confirmation.gardener.cloud/deletion': 'true' } } });
      await garden.delete(resources.shoots, name);
      await run(name, 'Delete', async ({ shoot, namespace, step }) => {
        if (force) {
          step('Extension deleted by force');
          await destroyExtension(namespace);
          await stripManagedResources(seed, namespace);
        } else {
          const client = await deployControlPlane(namespace);
          step('CRDs and workloads cleaned');
          await cleanShoot(client, waits);
          await controlPlanes.removeNodes(namespace);
          step('Extension deleted');
          await destroyExtension(namespace);
          await waits.untilNone('ManagedResources', () => nilClassLeft(namespace));
        }
        await controlPlanes.remove(namespace);
        await removeNamespace(namespace);
        const finalizers = shoot.metadata.finalizers?.filter((finalizer) => finalizer !== FINALIZER);
        await patchShoot(name, { metadata: { finalizers: finalizers ?? [] } });
      });
    },

    /** Removes the Shoot from this seed, and returns the state from which another gardenlet restores it. */
    async migrate(name: ObjectName) {
      let state: ExtensionState = {};
      await run(name, 'Migrate', async ({ shoot, namespace, step }) => {
        step('Extension migrated');
        await extensions.deploy(namespace, extensionOf(shoot)?.providerConfig, 'migrate');
        await waits.untilMigrated(namespace);
        state = await extensions.state(namespace);
        await destroyExtension(namespace);
        await waits.untilNone('ManagedResources', () => nilClassLeft(namespace));
        await controlPlanes.sleep(namespace);
        await removeNamespace(namespace);
      });
      return state;
    },

    async restore(name: ObjectName, state: ExtensionState) {
      await run(name, 'Restore', async ({ shoot, namespace, step }) => {
        await deployControlPlane(namespace);
        step('Extension restored');
        const { providerConfig } = extensionOf(shoot) ?? {};
        await extensions.deploy(namespace, providerConfig, 'wait-for-state');
        await extensions.setState(namespace, state);
        await waits.untilReady(namespace, await extensions.deploy(namespace, providerConfig, 'restore'));
        await controlPlanes.joinNodes(namespace);
      });
      await syncCluster(name);
    },
  };
}

interface Run {
  shoot: GardenShoot;
  namespace: string;
  step(text: string): void;
}

type Flow = (run: Run) => Promise<void>;

const nameOfShoot = ({ metadata }: GardenShoot): ObjectName => ({ namespace: metadata.namespace, name: metadata.name });

const now = () => seconds(Date.now());

function operation(type: LastOperation['type'], state: LastOperation['state'], progress: number): LastOperation {
  return { type, state, progress, description: `${type} of the Shoot: ${state}`, lastUpdateTime: now() };
}

/** Force deletion does not wait for managed objects. */
async function stripManagedResources(seed: KubeClient, namespace: string): Promise<void> {
  const { items } = await seed.list(resources.managedResources, { namespace });
  for (const { metadata } of items) {
    const patch = { metadata: { finalizers: null }, spec: { keepObjects: false } };
    await seed.delete(resources.managedResources, metadata);
    const left = await seed.find(resources.managedResources, metadata);
    if (left !== undefined) await seed.mergePatch(resources.managedResources, metadata, patch, { fieldManager });
  }
}
