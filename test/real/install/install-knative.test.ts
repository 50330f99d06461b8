import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { DELAY } from '../../../events/cloudevents/event.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import { NAMESPACE, nameOf, WATCHER } from '../../../infra/knative/manifests.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { example } from '../../integration/documents.ts';
import { followPage } from '../../integration/followed-page.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { installCrds } from '../cluster/crds.ts';
import { requestJson } from '../cluster/request.ts';
import { useApiServers } from '../on-real-apis.ts';
import { eventingCrds, servingCrds } from './knative/data-plane.ts';
import { listObjects, registrationKinds, userOf } from './objects.ts';
import { makeWorkplace, type Workplace } from './workplace.ts';

const PAGE = 'docs/install-knative.md';
const overlay = 'infra/knative/overlays/my-landscape';

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
  const page = followPage('docs/install-knative.md');
  const { servers } = useApiServers({ garden: { crds: [registrationKinds] }, 'my-seed': {}, knative: {} });
  let workplace: Workplace;
  let folder: string;

  beforeAll(async () => {
    await installCrds(servers.knative, [...(await eventingCrds()), ...(await servingCrds())]);
    workplace = await makeWorkplace({ environment: { KUBECONFIG: await servers.knative.kubeconfigFile() } });
    folder = workplace.folder;
    await mkdir(join(folder, 'templates'));
    for (const name of ['garden', 'my-seed'] as const) {
      await cp(await servers[name].kubeconfigFile(), join(folder, `${name}.kubeconfig`));
      await writeFile(join(folder, 'templates', name), templateFor(servers[name]));
    }
  });
  afterAll(async () => {
    await workplace?.remove();
  });

  type Name = keyof typeof servers;
  const get = async (path: string, name: Name = 'knative') =>
    (await requestJson(servers[name as Name], 'GET', path)) as KubeObject;
  const itemsOf = async (path: string) => (await get(path)).items as KubeObject[];
  const namesOf = async (path: string) => (await itemsOf(path)).map(({ metadata }) => metadata.name).toSorted();
  const pods = async () => {
    const objects = [...(await itemsOf(SERVICES)), ...(await itemsOf(DEPLOYMENTS))];
    return objects.map(({ spec }) => (spec as { template: { spec: Pod } }).template.spec);
  };

  it('gives each identity its kubeconfigs, with its own ServiceAccount in garden and seed', async () => {
    await page.follow('Rights', workplace.run);
    await page.follow('Kubeconfigs', workplace.run);
    const functions = (await findDefinitions()).map(({ name }) => nameOf(name));
    for (const identity of [WATCHER, ...functions]) {
      const { data } = await get(`/api/v1/namespaces/${NAMESPACE}/secrets/${identity}`);
      const kubeconfigs = data as Record<string, string>;
      expect(Object.keys(kubeconfigs).toSorted()).toEqual(['garden', 'my-seed']);
      for (const [name, base64] of Object.entries(kubeconfigs)) {
        const { users } = parse(Buffer.from(base64, 'base64').toString());
        expect(await userOf(servers[name as Name], users[0].user.token)).toBe(
          `system:serviceaccount:${NAMESPACE}:${identity}`,
        );
      }
    }
  });

  it('has all objects checked by the API server, without any being created', async () => {
    await page.block('Install', 1).run(workplace.run);
    const components = page.yaml('Install');
    const file = join(folder, overlay, 'kustomization.yaml');
    await writeFile(file, `${await readFile(file, 'utf8')}${components}`);
    await page.block('Install', 2).run(workplace.run);
    expect([...(await namesOf(SERVICES)), ...(await namesOf(TRIGGERS))]).toEqual([]);
  });

  it('creates what the API server accepts: Services, SinkBindings, Triggers and the EventPolicy', async () => {
    await page.block('Install', 3).run(workplace.run);
    const definitions = await findDefinitions();
    const functions = definitions.map(({ name }) => nameOf(name));
    expect(await namesOf(SERVICES)).toEqual(functions.toSorted());
    expect(await namesOf(SINK_BINDINGS)).toEqual([WATCHER, ...functions].toSorted());
    // One more for changes that wait, which the bridge holds.
    expect(await namesOf(TRIGGERS)).toEqual([nameOf(DELAY), ...functions].toSorted());
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

  it('registers the extension', async () => {
    await writeFile(join(folder, 'values.yaml'), 'replicaCount: 0\n');
    await page.follow('Register the extension', workplace.run);
    expect(await listObjects(servers.garden, 'controllerregistrations')).toHaveLength(1);
  });

  it('upgrades all containers, and a changed config reaches every Pod', async () => {
    const images = async () =>
      new Set((await pods()).flatMap(({ containers }) => containers.map(({ image }) => image)));
    const configs = async () => new Set((await pods()).map(({ volumes }) => volumes[0]?.configMap?.name));
    expect([...(await images())]).toEqual(['registry.example.com/shoot-flux:0.1.0']);
    const before = await configs();
    const config = join(folder, overlay, 'config.yaml');
    await writeFile(config, stringify({ ...parse(await readFile(config, 'utf8')), logLevel: 'debug' }));
    await page.follow('Upgrade', workplace.run);
    expect([...(await images())]).toEqual(['registry.example.com/shoot-flux:0.2.0']);
    const after = await configs();
    expect([before.size, after.size]).toEqual([1, 1]);
    expect([...after]).not.toEqual([...before]);
  });

  it('adds what answers Git hosts, which they reach from outside', async () => {
    const file = join(folder, overlay, 'kustomization.yaml');
    const { components, ...others } = parse(await readFile(file, 'utf8'));
    await writeFile(file, stringify({ ...others, components: [...components, '../push'] }));
    await page.block('Install', 3).run(workplace.run);
    const { metadata, spec } = await get(`${SERVICES}/${nameOf('push-webhook')}`);
    expect(Object.keys(metadata.labels ?? {})).not.toContain('networking.knative.dev/visibility');
    const [container] = (spec as { template: { spec: Pod } }).template.spec.containers;
    expect(container?.args).toEqual(expect.arrayContaining(['webhooks', '--webhook-function', 'push-webhook']));
  });

  it('removes everything', async () => {
    await page.follow('Remove', workplace.run);
    for (const path of [SERVICES, SINK_BINDINGS, TRIGGERS, EVENT_POLICIES, DEPLOYMENTS])
      expect(await namesOf(path)).toEqual([]);
    for (const name of ['garden', 'my-seed'] as const) {
      const roles = (await get('/apis/rbac.authorization.k8s.io/v1/clusterroles', name)).items as KubeObject[];
      expect(roles.filter(({ metadata }) => metadata.name.includes('shoot-flux'))).toEqual([]);
    }
  });
});

/** The kubeconfig of the page, for this server. */
function templateFor({ url, ca }: ApiServer): string {
  const template = parse(example(PAGE, 'Config'));
  const data = Buffer.from(ca).toString('base64');
  template.clusters[0].cluster = { server: url, 'certificate-authority-data': data };
  return stringify(template, { lineWidth: 0 });
}
