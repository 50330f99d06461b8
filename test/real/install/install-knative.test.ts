import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { findDefinitions } from '../../../infra/functions.ts';
import { servedOf } from '../../../infra/knative/base.ts';
import { NAMESPACE, nameOf, WATCHER } from '../../../infra/knative/names.ts';
import { effectiveConfig } from '../../../shared/config/effective-config.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { documents, example, root } from '../../integration/documents.ts';
import { type ApiServer, startApiServer } from '../cluster/api-server.ts';
import { installCrds } from '../cluster/crds.ts';
import { type Etcd, startEtcd } from '../cluster/etcd.ts';
import { requestJson } from '../cluster/request.ts';
import { eventingCrds, servingCrds } from './knative/modules.ts';
import { applyObjects } from './objects.ts';

const PAGE = 'docs/install-knative.md';
const page = documents.find(({ path }) => path === PAGE);
const blocks = (language: string) => (page?.fences ?? []).filter((fence) => fence.language === language);
const overlay = 'infra/knative/overlays/my-landscape';
const [rights = '', accounts = '', secrets = '', copy = '', install = '', upgrade = '', remove = '', ...more] = blocks(
  'sh',
).map(({ text }) => text);
const [check = '', create = ''] = install.trim().split('\n');

const SERVICES = `/apis/serving.knative.dev/v1/namespaces/${NAMESPACE}/services`;
const SINK_BINDINGS = `/apis/sources.knative.dev/v1/namespaces/${NAMESPACE}/sinkbindings`;
const EVENT_POLICIES = `/apis/eventing.knative.dev/v1alpha1/namespaces/${NAMESPACE}/eventpolicies`;
const TRIGGERS = `/apis/eventing.knative.dev/v1/namespaces/${NAMESPACE}/triggers`;
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;

interface Pod {
  containers: { image: string; args: string[] }[];
  volumes: { configMap?: { name: string }; secret?: { secretName: string } }[];
}

interface Sender {
  ref: { name: string };
}

/** The page from an empty folder, on real API servers: garden, seed, and one with the CRDs of Knative. */
describe('the page of Knative', () => {
  let etcd: Etcd;
  let folder: string;
  const servers: Record<string, ApiServer> = {};

  beforeAll(async () => {
    etcd = await startEtcd();
    for (const name of ['garden', 'my-seed', 'knative']) servers[name] = await startApiServer({ etcd, prefix: name });
    await installCrds(serverOf('knative'), [...(await eventingCrds()), ...(await servingCrds())]);
    folder = await mkdtemp(join(tmpdir(), 'page-'));
    await mkdir(join(folder, 'infra'));
    await cp(join(root, 'infra/knative'), join(folder, 'infra/knative'), { recursive: true });
    await symlink(join(root, 'infra/gardener'), join(folder, 'infra/gardener'));
    await mkdir(join(folder, 'bin'));
    const kubectl = `#!/bin/sh\nexec ${process.execPath} ${join(import.meta.dirname, 'kubectl.ts')} "$@"\n`;
    await writeFile(join(folder, 'bin/kubectl'), kubectl, { mode: 0o755 });
    await mkdir(join(folder, 'templates'));
    for (const name of ['garden', 'my-seed']) {
      await cp(await serverOf(name).kubeconfigFile(), join(folder, `${name}.kubeconfig`));
      await writeFile(join(folder, 'templates', name), templateFor(serverOf(name)));
    }
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.stop();
    await etcd?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const serverOf = (name: string) => servers[name] as ApiServer;
  const get = async (path: string, name = 'knative') => (await requestJson(serverOf(name), 'GET', path)) as KubeObject;
  const itemsOf = async (path: string) => (await get(path)).items as KubeObject[];
  const namesOf = async (path: string) => (await itemsOf(path)).map(({ metadata }) => metadata.name).toSorted();
  const pods = async () => {
    const objects = [...(await itemsOf(SERVICES)), ...(await itemsOf(DEPLOYMENTS))];
    return objects.map(({ spec }) => (spec as { template: { spec: Pod } }).template.spec);
  };

  /** Runs the commands of a block as they stand. */
  async function follow(block: string): Promise<void> {
    const env = {
      ...process.env,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      KUBECONFIG: await serverOf('knative').kubeconfigFile(),
    };
    const options = { cwd: folder, env, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', block], options);
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  }

  it('gives each identity its kubeconfigs, with its own ServiceAccount in garden and seed', async () => {
    expect([more, install.trim().split('\n').length]).toEqual([[], 2]);
    for (const block of [rights, accounts, secrets]) await follow(block);
    const functions = servedOf(await findDefinitions()).map(({ name }) => nameOf(name));
    for (const identity of [WATCHER, ...functions]) {
      const { data } = await get(`/api/v1/namespaces/${NAMESPACE}/secrets/${identity}`);
      const kubeconfigs = data as Record<string, string>;
      expect(Object.keys(kubeconfigs).toSorted()).toEqual(['garden', 'my-seed']);
      for (const [name, base64] of Object.entries(kubeconfigs)) {
        const { users } = parse(Buffer.from(base64, 'base64').toString());
        expect(await userOf(serverOf(name), users[0].user.token)).toBe(
          `system:serviceaccount:${NAMESPACE}:${identity}`,
        );
      }
    }
  });

  it('has all objects checked by the API server, without any being created', async () => {
    await follow(copy);
    const components = blocks('yaml').find(({ text }) => text.startsWith('components:'))?.text ?? '';
    const file = join(folder, overlay, 'kustomization.yaml');
    await writeFile(file, `${await readFile(file, 'utf8')}${components}`);
    await follow(check);
    expect([...(await namesOf(SERVICES)), ...(await namesOf(TRIGGERS))]).toEqual([]);
  });

  it('creates what the API server accepts: Services, SinkBindings, Triggers and the EventPolicy', async () => {
    await follow(create);
    const definitions = await findDefinitions();
    const functions = servedOf(definitions).map(({ name }) => nameOf(name));
    expect(await namesOf(SERVICES)).toEqual(functions.toSorted());
    expect(await namesOf(SINK_BINDINGS)).toEqual([WATCHER, ...functions].toSorted());
    expect(await namesOf(TRIGGERS)).toEqual(definitions.map(({ name }) => nameOf(name)).toSorted());
    const senders = (await itemsOf(EVENT_POLICIES)).flatMap(({ spec }) => (spec as { from: Sender[] }).from);
    expect(senders.map(({ ref }) => ref.name).toSorted()).toEqual(await namesOf(SINK_BINDINGS));
  });

  it('gives every Pod the config file and the kubeconfigs that exist', async () => {
    const all = await pods();
    expect(all).toHaveLength((await namesOf(SERVICES)).length + 1);
    for (const { volumes } of all) {
      const config = volumes.find(({ configMap }) => configMap)?.configMap?.name;
      const secret = volumes.find((volume) => volume.secret)?.secret?.secretName;
      const { data } = await get(`/api/v1/namespaces/${NAMESPACE}/configmaps/${config}`);
      const { garden, seeds } = parse((data as Record<string, string>)['config.yaml'] ?? '');
      const kubeconfigs = (await get(`/api/v1/namespaces/${NAMESPACE}/secrets/${secret}`)).data as object;
      const mounted = Object.keys(kubeconfigs).map((name) => `/kubeconfigs/${name}`);
      expect([garden, ...Object.values(seeds)].toSorted()).toEqual(mounted.toSorted());
    }
  });

  it('the API server refuses a field that Knative does not know', async () => {
    const [service] = await itemsOf(SERVICES);
    const { apiVersion, kind, metadata, spec } = service as KubeObject & { spec: { template: { spec: object } } };
    const { template } = spec;
    const wrong = { ...spec, template: { ...template, spec: { ...template.spec, containerConcurency: 40 } } };
    const { name, namespace } = metadata;
    const object = { apiVersion, kind, metadata: { name, namespace }, spec: wrong } as KubeObject;
    await expect(applyObjects(serverOf('knative'), [object], true)).rejects.toThrow('containerConcurency');
  });

  it('upgrades all containers, and a changed config reaches every Pod', async () => {
    const images = async () =>
      new Set((await pods()).flatMap(({ containers }) => containers.map(({ image }) => image)));
    const configs = async () => new Set((await pods()).map(({ volumes }) => volumes[0]?.configMap?.name));
    expect([...(await images())]).toEqual(['registry.example.org/shoot-flux:0.1.0']);
    const before = await configs();
    const config = join(folder, overlay, 'config.yaml');
    await writeFile(config, stringify({ ...parse(await readFile(config, 'utf8')), logLevel: 'debug' }));
    await follow(upgrade);
    expect([...(await images())]).toEqual(['registry.example.org/shoot-flux:0.2.0']);
    const after = await configs();
    expect([before.size, after.size]).toEqual([1, 1]);
    expect([...after]).not.toEqual([...before]);
  });

  it('removes everything', async () => {
    await follow(remove);
    for (const path of [SERVICES, SINK_BINDINGS, TRIGGERS, EVENT_POLICIES, DEPLOYMENTS])
      expect(await namesOf(path)).toEqual([]);
    for (const name of ['garden', 'my-seed']) {
      const roles = (await get('/apis/rbac.authorization.k8s.io/v1/clusterroles', name)).items as KubeObject[];
      expect(roles.filter(({ metadata }) => metadata.name.includes('shoot-flux'))).toEqual([]);
    }
  });

  it('brings podinfo by its ConfigMap', () => {
    const { metadata, data } = parse(example(PAGE, 'ConfigMap'));
    expect(effectiveConfig({ fluxConfig: { namespace: metadata.namespace, data } })).toMatchObject({
      source: { spec: { url: 'https://github.com/stefanprodan/podinfo', ref: { branch: 'master' } } },
      kustomization: { spec: { path: './kustomize' } },
    });
  });
});

/** The kubeconfig of the page, for this server. */
function templateFor({ url, ca }: ApiServer): string {
  const template = parse(example(PAGE, 'Config'));
  const data = Buffer.from(ca).toString('base64');
  template.clusters[0].cluster = { server: url, 'certificate-authority-data': data };
  return stringify(template, { lineWidth: 0 });
}

/** Returns the user that a token belongs to. */
async function userOf(server: ApiServer, token: string): Promise<string> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const { status } = (await requestJson({ ...server, adminToken: token }, 'POST', path, review)) as {
    status: { userInfo: { username: string } };
  };
  return status.userInfo.username;
}
