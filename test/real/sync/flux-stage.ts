import type { Controller } from '@shoot-flux/landscape/controllers';
import { startNodes } from '@shoot-flux/landscape/nodes';
import { afterEach, beforeEach } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { eventually, inControlPlane, inProject, reference, startStage } from '../../scenarios/stage.ts';
import type { RealApis } from '../apis.ts';
import { type FluxControllerName, startFluxController } from '../cluster/flux-controller.ts';
import { freePorts } from '../cluster/ports.ts';
import type { Ground } from '../on-real-apis.ts';
import { watchAttempts } from './failures.ts';

/** A stage whose shoot runs the real controllers of Flux, where and while their Deployments exist. */
export type FluxStage = Awaited<ReturnType<typeof startFluxStage>>;

const names: FluxControllerName[] = [
  'source-controller',
  'kustomize-controller',
  'helm-controller',
  'notification-controller',
  'image-reflector-controller',
];

/** Gives each test of the surrounding suite a stage of its own. */
export function aroundEachFluxStage({ apis, fluxDistribution }: Ground, use: (flux: FluxStage) => void): void {
  let flux: FluxStage | undefined;
  beforeEach(async () => {
    flux = undefined;
    flux = await startFluxStage(apis(), fluxDistribution);
    use(flux);
  });
  afterEach(() => flux?.[Symbol.asyncDispose]());
}

export async function startFluxStage(apis: RealApis, fluxDistribution: string) {
  const stage = await startStage({ ...apis, stop: apis.forget }, fluxDistribution);
  const { url, ca, token } = apis.shoot;
  const connection = { server: url, ca, token };
  const kubeconfigFile = await apis.servers.shoot.kubeconfigFile();
  const [port = 0] = await freePorts(1);
  const events = `http://127.0.0.1:${port}/`;
  const attempts = watchAttempts(connection);
  const programs = names.map((name) => [name, () => startFluxController(name, kubeconfigFile, events)] as const);
  const nodes: Controller = await startNodes(connection, { programs: Object.fromEntries(programs) });
  await stage.startProduct();
  const withFailures = async (error: Error) => {
    throw new Error(`${error.message}\n${(await attempts.failed()).join('\n')}`, { cause: error });
  };
  /** Waits until an object in the namespace `default` of the shoot is there, and as it should be. */
  const untilApplied = async <T extends KubeObject>(
    kind: Resource,
    name: string,
    isWanted: (live: T) => boolean = () => true,
  ): Promise<T> => {
    const find = () => stage.shoot.find<T>(kind, { namespace: 'default', name });
    const isThere = (live: T | undefined) => live !== undefined && isWanted(live);
    return (await eventually(`${kind.kind} ${name}`, find, isThere).catch(withFailures)) as T;
  };
  return {
    stage,
    attempts,
    /** Writes a Secret of the project. */
    put: (name: string, values: Record<string, string>, type = 'Opaque') =>
      stage.putSecret('garden', inProject(name), values, { type }),
    /** Writes a Secret that the Shoot names in `spec.resources`, as gardenlet copies it; returns the entry. */
    async putResource(name: string, values: Record<string, string>) {
      await stage.putSecret('seed', inControlPlane(`ref-${name}`), values);
      return reference(name, name);
    },
    untilApplied,
    /** Waits until a ConfigMap in the namespace `default` of the shoot has this data. */
    untilData: (name: string, data: Record<string, string>) =>
      untilApplied<KubeObject & { data?: Record<string, string> }>(resources.configMaps, name, (live) =>
        Object.entries(data).every(([key, value]) => live.data?.[key] === value),
      ),
    /** Waits until a condition of the Extension is True. */
    untilTrue: (wanted: string) =>
      stage.until(wanted, ({ conditions = [] }) =>
        conditions.some(({ type, status }) => type === wanted && status === 'True'),
      ),
    async [Symbol.asyncDispose]() {
      await nodes.stop();
      await attempts[Symbol.asyncDispose]();
      await stage[Symbol.asyncDispose]();
      await apis.forget();
    },
  };
}

/** Returns a value of a Secret. */
export function dataOf(secret: KubeObject | undefined, key: string): string {
  return Buffer.from((secret?.data as Record<string, string> | undefined)?.[key] ?? '', 'base64').toString();
}
