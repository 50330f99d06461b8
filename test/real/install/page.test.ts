import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { shootFlux } from '../../../infra/cli/testing.ts';
import { shootOn, startGarden, statusMapOf } from '../../../infra/fleet/testing.ts';
import { startPage } from '../../../infra/page/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { renderChart } from './helm.ts';

const APPLICATION = 'shoot-flux-admission/charts/application';
const RUNTIME = 'shoot-flux-admission/charts/runtime';
const given = { name: 'extension-admission-shoot-flux', namespace: 'kube-system' };
const render = (chart: string, page: object, more: object = {}) =>
  renderChart({ chart, namespace: 'garden', values: { page: { enabled: true, ...page }, ...more } });
const isPage = ({ metadata }: KubeObject) => /[:-]page$/.test(metadata.name);

it('the rights of the chart are those that the page needs, with and without users', async () => {
  const gardener = { virtualCluster: { serviceAccount: given } };
  const rendered = (await render(APPLICATION, {}, { gardener })).filter(isPage);
  expect(rendered.find(({ kind }) => kind === 'ClusterRoleBinding')?.subjects).toEqual([
    { kind: 'ServiceAccount', ...given },
  ]);
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'nick' }];
  const objects = [
    ...rendered.map((object) => (object.kind === 'ClusterRoleBinding' ? { ...object, subjects } : object)),
    shootOn('aws-1', 'garden-foo', 'bar'),
    statusMapOf('garden-foo', { bar: { state: 'Ready' } }),
  ];
  await using all = await startPage(objects, {}, 'nobody');
  expect(await (await all.get('/?project=foo')).text()).toContain('aws-1');
  expect(await (await all.get('/shoot?project=foo&name=bar')).text()).toContain('The garden keeps no Event');
  await using users = await startPage(objects, { identity: { userHeader: 'X-Forwarded-User' } }, 'nobody');
  const seenBy = async (name: string) => (await users.get('/', { 'x-forwarded-user': name })).text();
  expect(await seenBy('mia')).toContain('name=bar');
  expect(await seenBy('noel')).not.toContain('name=bar');
});

it('the Pod of the chart has arguments that the page takes', async () => {
  const proxy = [{ name: 'proxy', image: 'registry.example.com/proxy' }];
  const options = { userHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups', hosts: ['flux.example.com'] };
  const rendered = await render(RUNTIME, { ...options, proxy }, { garden: { inCluster: true } });
  expect(
    rendered
      .filter(isPage)
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(['Deployment', 'Service']);
  const containers = containersOf(rendered);
  expect(containers.map(({ name }) => name)).toEqual(['shoot-flux-page', 'proxy']);
  await using garden = await startGarden([statusMapOf('garden-foo', { bar: { state: 'Ready' } })]);
  const args = (containers[0]?.args ?? []).map((arg) => (arg === 'in-cluster' ? garden.people.nobody : arg));
  expect(await shootFlux(args)).toMatchObject({ code: 3, err: expect.stringContaining('in all projects') });
});

it('the probe of the chart waits until the page is served', async () => {
  const [container] = containersOf(await render(RUNTIME, {}, { garden: { inCluster: true } }));
  const [program, ...words] = container?.startupProbe.exec.command ?? [];
  expect(program).toBe('/usr/local/bin/node');
  expect(words.join(' ')).toContain('http://127.0.0.1:8090');
  await using page = await startPage([], { identity: { userHeader: 'X-Forwarded-User' } });
  const probe = () =>
    promisify(execFile)(
      process.execPath,
      words.map((word) => word.replace('http://127.0.0.1:8090', page.url)),
    );
  await probe();
  await page.stop();
  await expect(probe()).rejects.toMatchObject({ code: 1 });
});

it('a proxy without a header of the user is refused', async () => {
  await expect(render(RUNTIME, { proxy: [{ name: 'proxy' }] })).rejects.toThrow('page.proxy without page.userHeader');
});

interface Deployment {
  template: { spec: { containers: { name: string; args?: string[]; startupProbe: Probe }[] } };
}

interface Probe {
  exec: { command: string[] };
}

/** Returns the containers of the page's Pod. */
function containersOf(rendered: KubeObject[]) {
  const deployment = rendered.find((object) => object.kind === 'Deployment' && isPage(object));
  return (deployment?.spec as Deployment | undefined)?.template.spec.containers ?? [];
}
