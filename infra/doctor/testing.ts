import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { type KubeApi, type KubeApiOptions, startKubeApi } from '@shoot-flux/landscape/kube-api';
import forge from 'node-forge';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { kubeconfigOf } from '../../shared/kube/testing.ts';
import { files, shootFlux } from '../cli/testing.ts';
import { findAllDefinitions } from '../functions.ts';
import { RUN_USER, rbacObjects } from '../gardener/rbac.ts';

const apiGroup = 'rbac.authorization.k8s.io';

const crd = (group: string, kind: string, version = 'v1beta1', scope = 'Cluster') => ({
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    ...{ group, scope, names: { kind, plural: `${kind.toLowerCase()}s` } },
    versions: [
      {
        ...{ name: version, served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

/** What gardener-apiserver serves beside Shoots. */
const ofGarden = ['Seed', 'ControllerInstallation'].map((kind) => crd('core.gardener.cloud', kind));

/** The shipped roles, all bound to the user of `run`. */
async function rolesOf(place: 'garden' | 'seed') {
  const objects = rbacObjects(await findAllDefinitions(), place);
  const subjects = [{ kind: 'User', apiGroup, name: RUN_USER }];
  return objects.map((object) => (object.kind.endsWith('Binding') ? { ...object, subjects } : object));
}

async function startCluster(place: 'garden' | 'seed'): Promise<KubeApi> {
  const crds = place === 'garden' ? [...gardenCrds(), ...ofGarden] : seedCrds();
  const tokens = { 'run-token': { name: RUN_USER }, 'nobody-token': { name: 'nobody' } };
  const objects = [...crds, ...(await rolesOf(place))] as unknown as KubeApiOptions['objects'];
  return startKubeApi({ authorization: 'RBAC', tokens, ...(objects && { objects }) });
}

/** A garden and the seed `aws`, with kubeconfigs. */
export async function startClusters() {
  const [garden, seed] = await Promise.all([startCluster('garden'), startCluster('seed')]);
  const kubeconfig = ({ url, ca }: KubeApi, token: string) =>
    kubeconfigOf({ token }, { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') });
  const written = await files({
    garden: kubeconfig(garden, 'run-token'),
    seed: kubeconfig(seed, 'run-token'),
    /** An operator, who may read everything. */
    adminGarden: kubeconfig(garden, garden.token),
    adminSeed: kubeconfig(seed, seed.token),
    nobody: kubeconfig(garden, 'nobody-token'),
    stranger: kubeconfig(garden, 'stranger-token'),
    down: kubeconfigOf(),
  });
  const { paths } = written;
  return {
    ...{ garden, seed, paths },
    /** Runs the command as an operator. @returns the lines of one check and their remedies, without names of files */
    async lines(check: string, ...args: string[]): Promise<string[]> {
      const clusters = ['--garden', paths.adminGarden, '--seed', `aws=${paths.adminSeed}`];
      const { out } = await shootFlux(['doctor', ...clusters, ...args]);
      const all = out.replaceAll(`${written.dir}/`, '').split('\n');
      return all.filter((line, index) =>
        line.startsWith('    ') ? all[index - 1]?.includes(` ${check}: `) : line.includes(` ${check}: `),
      );
    },
    async [Symbol.asyncDispose]() {
      await written[Symbol.asyncDispose]();
      await Promise.all([garden.stop(), seed.stop()]);
    },
  };
}

export type Clusters = Awaited<ReturnType<typeof startClusters>>;

/** Gives the tests of a file clusters, which each of them finds as they were at first. */
export function useClusters(use: (clusters: Clusters) => void): void {
  let clusters: Clusters | undefined;
  let restore: (() => void)[] = [];
  beforeAll(async () => {
    clusters = await startClusters();
    restore = [clusters.garden.checkpoint(), clusters.seed.checkpoint()];
    use(clusters);
  });
  beforeEach(() => {
    for (const one of restore) one();
  });
  afterAll(() => clusters?.[Symbol.asyncDispose]());
}

/** Creates an object of any kind in the store of a test server. */
export function createObject(api: KubeApi, object: KubeObject): void {
  api.objects.create(object);
}

/** Issues a certificate of itself, valid between these days from now. @returns PEM */
export async function issueCertificate(from: number, to: number): Promise<string> {
  const keys = forge.pki.rsa.generateKeyPair(1024);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.publicKey;
  certificate.serialNumber = '01';
  // Hours, so that a day that has just begun counts.
  const at = (days: number) => new Date(Date.now() + (days * 24 + 1) * 3_600_000);
  Object.assign(certificate.validity, { notBefore: at(from), notAfter: at(to) });
  certificate.sign(keys.privateKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}
