import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { restrictions } from '@shoot-flux/landscape/restrictions';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { SEED } from '../../scenarios/stage.ts';
import { type RealApis, startRealApis } from '../apis.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { installCrds } from '../cluster/crds.ts';
import { rememberEtcd } from '../cluster/etcd.ts';
import { listen } from '../cluster/ports.ts';
import { installationRoles } from './chart-rights.ts';
import { type Host, INSTALLATION, installAsGardener, seedHost } from './gardenlet.ts';
import { renderChart } from './helm.ts';
import { applyObjects, namespaceOf, optionalKinds } from './objects.ts';
import { type Pod, startPod } from './pod.ts';

/** The users that the Pods in a seed may be, in garden and seed. */
export const podUsers = {
  garden: [`system:serviceaccount:seed-${SEED}:shoot-flux`],
  seed: ['shoot-flux', 'shoot-flux-webhooks'].map((name) => `system:serviceaccount:${INSTALLATION}:${name}`),
};

/** Real API servers of garden, seed and shoot; in the seed the chart, as gardenlet installs it. */
export interface ChartLandscape extends RealApis {
  /** The roles and bindings that the charts have rendered until now, in all modes. */
  rights: { garden: KubeObject[]; seed: KubeObject[] };
  /** Renders the chart with a gardenlet's values and these, and applies it. */
  install(values: Record<string, unknown>, host?: Host): Promise<KubeObject[]>;
  /**
   * Starts a Pod of an installed Deployment.
   * @param flags in place of what the image contains, and of ports that may be taken
   */
  start(name: 'shoot-flux' | 'shoot-flux-webhooks', flags?: string[]): Promise<Pod>;
}

export async function startChartLandscape(): Promise<ChartLandscape> {
  const apis = await startRealApis();
  const { garden, seed } = apis.servers;
  const roles = await installationRoles();
  await installCrds(seed, [optionalKinds]);
  await applyObjects(garden, roles);
  await applyObjects(seed, [namespaceOf('garden'), namespaceOf(INSTALLATION)]);
  const restrictions = await startRestrictions(garden);
  const rights = { garden: roles, seed: [] as KubeObject[] };
  let installed: KubeObject[] = [];
  return {
    ...apis,
    rights,
    forget: await rememberEtcd(apis.etcd),
    async install(values, host = seedHost(SEED)) {
      const rendered = await renderChart({ namespace: INSTALLATION, values: { ...host.values, ...values } });
      rights.seed.push(...rendered.filter(({ apiVersion }) => apiVersion.startsWith('rbac.')));
      const { objects, bindings } = await installAsGardener({ garden, seed }, host, rendered);
      rights.garden = [...roles, ...bindings];
      installed = objects;
      return objects;
    },
    async start(name, flags) {
      const deployment = installed.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
      if (deployment === undefined) throw new Error(`${name} is not installed`);
      return startPod({ deployment, cluster: seed, flags });
    },
    async stop() {
      await restrictions[Symbol.asyncDispose]();
      await apis.stop();
    },
  };
}

interface Review {
  apiVersion: string;
  kind: string;
  request: {
    uid: string;
    operation: string;
    namespace?: string;
    resource: { group: string; resource: string };
    userInfo: { username: string };
  };
}

/** Serves the webhooks SeedRestriction and ShootRestriction of Gardener for a garden, as far as they concern us. */
async function startRestrictions(garden: ApiServer): Promise<AsyncDisposable> {
  const { cert, key } = loopbackCertificate();
  const server = createServer({ cert, key }, async (request, response) => {
    const { request: asked, ...review } = (await json(request)) as Review;
    const { group, resource: plural } = asked.resource;
    const webhook = restrictions.find(({ name }) => request.url?.startsWith(`/${name}?`));
    const message = webhook?.deny({ user: asked.userInfo.username, group, plural, namespace: asked.namespace ?? '' });
    const answer = message === undefined ? { allowed: true } : { allowed: false, status: { code: 403, message } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...review, response: { uid: asked.uid, ...answer } }));
  });
  const listening = await listen(server);
  const caBundle = Buffer.from(cert).toString('base64');
  const webhooks = restrictions.map(({ name }) => ({
    name,
    clientConfig: { url: `https://${listening.host}/${name}`, caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets', 'configmaps'] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 10,
  }));
  const configuration: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'gardener-admission-controller' },
    webhooks,
  };
  await applyObjects(garden, [configuration]);
  return listening;
}
