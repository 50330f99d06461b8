// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { builtInKinds } from '../../functions/managed-resources/shoot/objects.ts';
import { resources } from '../../shared/kube/resource.ts';
import { aroundAllTests } from '../scenarios/around-each-test.ts';
import { base64, CONTROL_PLANE, inProject, PROJECT, type Stage } from '../scenarios/stage.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const docker = { auths: { 'registry.example.com': { username: 'robot', password: 'planted-registry' } } };
const secrets: [string, Record<string, string>, string?][] = [
  ['flux-source', { username: 'robot', password: 'planted-password' }],
  ['flux-sops', { 'age.agekey': 'AGE-SECRET-KEY-1PLANTED' }],
  ['flux-variables', { team: 'planted-variable' }],
  ['flux-registry', { '.dockerconfigjson': JSON.stringify(docker) }, 'kubernetes.io/dockerconfigjson'],
];
const planted = secrets.flatMap(([, values]) => Object.values(values).flatMap((value) => [value, base64(value)]));
const labels = { team: 'blue' };
const second = {
  kind: 'Kustomization',
  metadata: { name: 'second' },
  spec: { path: './b', prune: true, sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' } },
};
const annotate = '[{ op: add, path: /metadata/annotations, value: { example.com/contact: platform } }]';

/** A project that uses one of everything at once. */
const fluxConfig = {
  repositoryUrl: 'https://git.example.com/${SHOOT_LABEL_team}/fleet',
  repositoryType: 'private',
  repositoryPath: './${SHOOT_NAME}',
  syncMode: 'Reconcile',
  size: 'medium',
  'config.yaml': stringify({
    deletionPolicy: 'Uninstall',
    flux: {
      multiTenancy: true,
      sharding: { shards: ['one', 'two'] },
      storage: { size: '1Gi' },
      proxy: { secretName: 'proxy' },
      commonMetadata: { labels: { 'example.com/owner': 'platform' } },
      nodeSelector: { pool: 'system' },
      patches: [{ target: { kind: 'Deployment' }, patch: annotate }],
    },
    objects: [
      { kind: 'Provider', metadata: { name: 'chat' }, spec: { type: 'generic', address: 'https://chat.example.com' } },
      second,
    ],
  }),
  'overrides.yaml': stringify([
    { selector: { matchLabels: labels }, config: { kustomization: { patch: { spec: { interval: '7m' } } } } },
  ]),
};

describe('all options together', () => {
  let stage: Stage;
  aroundAllTests(startEmbeddedApis, ownDistribution, (next) => {
    stage = next;
  });

  const specOf = async (name: string) => await stage.specInShoot(kustomizations, name);

  it('come up', async () => {
    for (const [name, values, type = 'Opaque'] of secrets) {
      await stage.putSecret('garden', inProject(name), values, { type });
    }
    await stage.setFluxConfig(fluxConfig);
    await stage.deliver({ metadata: { labels } });
    const account = { serviceAccountName: 'kustomize-controller', decryption: { secretRef: { name: 'flux-sops' } } };
    expect(await specOf('main-ks')).toMatchObject({ ...account, interval: '7m', path: './bar' });
    expect(await specOf('second')).toMatchObject(account);
    const source = await stage.inShoot(gitRepositories, 'main-gitrepo');
    expect(source?.spec).toMatchObject({ url: 'https://git.example.com/blue/fleet' });
    const shard = await stage.inShoot(resources.deployments, 'source-controller-two');
    expect(shard?.metadata).toMatchObject({
      labels: { 'example.com/owner': 'platform' },
      annotations: { 'example.com/contact': 'platform' },
    });
  });

  it('are at rest after the first success, also when the product starts again', async () => {
    await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks'], [kustomizations, 'second']);
    await stage.until('the first success', ({ state }) => state?.bootstrapped !== undefined);
    await stage.quiet();
    stage.requests.length = 0;
    await stage.stopProduct();
    await stage.startProduct();
    await stage.deliver({ metadata: { labels } });
    await stage.quiet();
    const writes = stage.requests.filter(({ method }) => method !== 'GET');
    expect(writes.map(({ identity, method, resource }) => `${identity} ${method} ${resource}`)).toEqual([
      'managed-resources PATCH extensions.extensions.gardener.cloud',
      'managed-resources PATCH extensions.extensions.gardener.cloud',
    ]);
  });

  it('say nothing secret, in logs, statuses, Events and ConfigMaps', async () => {
    const said = [
      stage.logLines,
      await stage.extension(),
      await stage.managedResources(),
      await stage.events(),
      (await stage.garden.list(resources.configMaps, { namespace: PROJECT })).items,
    ].map((part) => JSON.stringify(part));
    for (const secret of planted) expect(said.filter((part) => part.includes(secret))).toEqual([]);
  });

  it('leave nothing behind when the extension is removed', async () => {
    await stage.deleteExtension();
    await stage.untilGone();
    const lists = await Promise.all(Object.values(builtInKinds).map((kind) => stage.shoot.list(kind)));
    const names = lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
    expect(names.filter((name) => !/^(default|kube-.*|cluster-admin)$/.test(name))).toEqual([]);
    expect(await stage.managedResources()).toEqual({});
    const left = await stage.seed.list(resources.secrets, { namespace: CONTROL_PLANE });
    expect(left.items.map(({ metadata }) => metadata.name)).toEqual(['gardener']);
  });
});
