import { handler } from '../../../functions/project-status/handler.ts';
import {
  appliedFactory,
  clusterFactory,
  conditionFactory,
  extensionFactory,
  lastOperationFactory,
} from '../../../shared/gardener/testing.ts';
import type { Condition, ExtensionStatus, Shoot } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { RequestInfo } from '../../../shared/kube/http-client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { createLog } from '../../../shared/runtime/log.ts';
import type { Outcome } from '../../../shared/runtime/outcome.ts';
import { patientClient } from '../../patient-client.ts';
import { contextOf } from '../context.ts';
import { tokenOf } from '../identities.ts';
import type { Api, Apis } from '../stage.ts';

export const PROJECT = 'garden-foo';
const MAP = { namespace: PROJECT, name: 'flux-status' };
const fieldManager = 'test';

export type Project = Awaited<ReturnType<typeof startProject>>;

/** The Shoots of a project, as their Extensions describe them, and runs of `project-status` with its shipped rights. */
export async function startProject(apis: Apis) {
  const requests: RequestInfo[] = [];
  const logLines: string[] = [];
  const admin = ({ url, ca, token }: Api) => patientClient({ server: url, ca, token });
  const own = ({ url, ca }: Api) =>
    patientClient({ server: url, ca, token: tokenOf('project-status') }, { onRequest: (info) => requests.push(info) });
  const [garden, seed] = [admin(apis.garden), admin(apis.seed)];
  const clients = { garden: own(apis.garden), seed: own(apis.seed) };
  await garden.apply(resources.namespaces, namespace(PROJECT), { fieldManager });
  const extensionOf = (name: string) => ({ namespace: controlPlane(name), name: 'shoot-flux' });

  const project = {
    garden,
    /** Requests of the runs since it was cleared. */
    requests,
    logLines,
    now: new Date('2026-01-02T03:05:05Z'),
    /** Creates the Shoot, or changes the status of its Extension and parts of the Shoot. */
    async set(name: string, status: Partial<ExtensionStatus>, shoot: Partial<Shoot> = {}) {
      if ((await seed.find(resources.extensions, extensionOf(name))) === undefined) {
        await seed.apply(resources.namespaces, namespace(controlPlane(name)), { fieldManager });
        const extension = { ...extensionFactory(), metadata: extensionOf(name) };
        await seed.create(resources.extensions, extension, { fieldManager });
      }
      const object = { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', metadata: shootOf(name) };
      await garden.apply(resources.shoots, object, { fieldManager });
      const cluster = clusterFactory({ ...shoot, metadata: { name, namespace: PROJECT, uid: `uid-${name}` } });
      const metadata = { name: controlPlane(name) };
      const spec = { ...cluster.spec, seed: {}, cloudProfile: {} };
      await seed.apply(resources.clusters, { ...cluster, metadata, spec }, { fieldManager });
      const options = { fieldManager, subresource: 'status' } as const;
      await seed.mergePatch(
        resources.extensions,
        extensionOf(name),
        { status: { lastError: null, ...status } },
        options,
      );
    },
    /** Deletes everything of a Shoot, without a run in between. */
    async vanish(name: string) {
      await seed.delete(resources.extensions, extensionOf(name));
      await seed.delete(resources.clusters, { name: controlPlane(name) });
      await garden.delete(resources.shoots, shootOf(name));
    },
    async deleteExtension(name: string) {
      await seed.delete(resources.extensions, extensionOf(name));
    },
    /** @param wrap replaces the client, for example by one that dies */
    run: (name: string, wrap = (client: KubeClient) => client): Promise<Outcome> =>
      handler(
        { cluster: 'local', ...extensionOf(name) },
        contextOf({
          kube: async (cluster) => wrap(cluster === 'garden' ? clients.garden : clients.seed),
          now: () => project.now,
          log: createLog('debug', (line) => logLines.push(line)),
        }),
      ),
    /** Runs for a Shoot until it asks for no other run within seconds, as the queue does. */
    async settle(name: string) {
      for (let runs = 0; runs < 20; runs++) {
        const outcome = await project.run(name);
        if (outcome.type === 'done' || outcome.afterSeconds > 25) return;
      }
      throw new Error(`the status of ${name} does not come to rest`);
    },
    /** The content of `flux-status`; undefined when there is none. */
    lines: async () => (await garden.find<KubeObject & Data>(resources.configMaps, MAP))?.data,
    /** Reason and message of each Event on a Shoot, in order. */
    async eventsOf(name: string) {
      const { items } = await garden.list<KubeObject & ShootEvent>(resources.events, { namespace: PROJECT });
      return items
        .filter(({ involvedObject }) => involvedObject.uid === `uid-${name}`)
        .map(({ reason, message }) => `${reason}: ${message}`);
    },
    async [Symbol.asyncDispose]() {
      for (const client of [garden, seed, clients.garden, clients.seed]) client.close();
    },
  };
  return project;
}

interface Data {
  data?: Record<string, string>;
}

interface ShootEvent {
  involvedObject: { uid: string };
  reason: string;
  message: string;
}

const shootOf = (name: string) => ({ namespace: PROJECT, name });
const controlPlane = (name: string) => `shoot--foo--${name}`;

function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

const since = '2026-01-02T03:05:00Z';
const condition = (parts: Partial<Condition>) => conditionFactory({ lastTransitionTime: since, ...parts });
const succeeded = { lastOperation: lastOperationFactory(), state: { applied: appliedFactory() } };

/** Flux is running, and there is no repository. */
export const ready: Partial<ExtensionStatus> = {
  ...succeeded,
  conditions: [condition({ type: 'FluxReady', message: 'Flux v2.9.4 is running. (config c0ffee)' })],
};

/** Something that a user has to correct. */
export const failing: Partial<ExtensionStatus> = {
  ...succeeded,
  conditions: [
    condition({
      type: 'FluxReady',
      status: 'False',
      reason: 'ControllersRefused',
      message: 'The quota has no room. (config c0ffee)',
      codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    }),
  ],
};

/** An operation is under way for the first time. */
export const working: Partial<ExtensionStatus> = {
  lastOperation: lastOperationFactory({ state: 'Processing', description: 'Applying Flux.' }),
};
