import type { Controller } from '@shoot-flux/landscape/controllers';
import { startNodes } from '@shoot-flux/landscape/nodes';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { resources } from '../../../shared/kube/resource.ts';
import { CONTROL_PLANE, PROJECT, type Stage, startStage } from '../../scenarios/stage.ts';
import type { RealApis } from '../apis.ts';
import {
  startHelmController,
  startImageReflectorController,
  startNotificationController,
} from '../cluster/flux-controller.ts';
import { startKustomizeController } from '../cluster/kustomize-controller.ts';
import { freePorts } from '../cluster/ports.ts';
import { startRealSourceController } from '../cluster/source-controller.ts';
import { type Attempts, watchAttempts } from './failures.ts';

/** A stage whose shoot runs the real controllers of Flux, where and while their Deployments exist. */
export interface FluxStage extends AsyncDisposable {
  stage: Stage;
  attempts: Attempts;
  /** Writes a Secret of the project. */
  put(name: string, values: Record<string, string>, type?: string): Promise<unknown>;
  /** Writes a Secret that the Shoot names in `spec.resources`, as gardenlet copies it; returns the entry. */
  putResource(name: string, values: Record<string, string>): Promise<ShootEntry>;
}

type ShootEntry = { name: string; resourceRef: { apiVersion: string; kind: string; name: string } };

export async function startFluxStage(apis: RealApis, fluxDistribution: string): Promise<FluxStage> {
  const stage = await startStage({ ...apis, stop: apis.forget }, fluxDistribution);
  const { url, ca, token } = apis.shoot;
  const connection = { server: url, ca, token };
  const kubeconfigFile = await apis.servers.shoot.kubeconfigFile();
  const [port = 0] = await freePorts(1);
  const eventsAddress = `http://127.0.0.1:${port}/`;
  const attempts = watchAttempts(connection);
  const nodes: Controller = await startNodes(connection, {
    programs: {
      'source-controller': () => startRealSourceController(kubeconfigFile, eventsAddress),
      'kustomize-controller': () =>
        startKustomizeController({ kubeconfigFile, args: [`--events-addr=${eventsAddress}`] }),
      'helm-controller': () => startHelmController({ kubeconfigFile, eventsAddress }),
      'notification-controller': () => startNotificationController(kubeconfigFile, port),
      'image-reflector-controller': () => startImageReflectorController({ kubeconfigFile, eventsAddress }),
    },
  });
  await stage.startProduct();
  return {
    stage,
    attempts,
    put: (name, values, type = 'Opaque') =>
      stage.garden.apply(resources.secrets, secret({ namespace: PROJECT, name }, values, type), {
        fieldManager: 'person',
      }),
    async putResource(name, values) {
      const copy = secret({ namespace: CONTROL_PLANE, name: `ref-${name}` }, values, 'Opaque');
      await stage.seed.apply(resources.secrets, copy, { fieldManager: 'gardener' });
      return { name, resourceRef: { apiVersion: 'v1', kind: 'Secret', name } };
    },
    async [Symbol.asyncDispose]() {
      await nodes.stop();
      await attempts[Symbol.asyncDispose]();
      await stage[Symbol.asyncDispose]();
      await apis.forget();
    },
  };
}

function secret(
  metadata: { namespace: string; name: string },
  values: Record<string, string>,
  type: string,
): KubeObject {
  const data = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { apiVersion: 'v1', kind: 'Secret', metadata, type, data: Object.fromEntries(data) } as KubeObject;
}
