import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decide } from '../../functions/admission/decide.ts';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import { withFullStop } from '../../shared/errors.ts';
import type { AdmissionRequest } from '../../shared/kube/admission.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { type Apis, CONTROL_PLANE, eventually, PROJECT, patience, type Stage, startStage } from '../scenarios/stage.ts';
import { attacks } from './bad-configs/attacks.ts';
import { type BadConfig, fluxConfigOf, HIDDEN, URL } from './bad-configs/case.ts';
import { ofLists } from './bad-configs/lists.ts';
import { ofProject } from './bad-configs/project.ts';
import { ofTheShoot } from './bad-configs/shoot.ts';
import { ownDistribution, startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const mistakes: BadConfig[] = [...ofProject, ...ofTheShoot, ...ofLists];
const all: BadConfig[] = [...mistakes, ...attacks];
const fieldManager = 'person';
const base64 = (content: Record<string, string>) =>
  Object.fromEntries(Object.entries(content).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

const specOf = ({ resources: named = {} }: BadConfig) => ({
  resources: Object.entries(named).map(([name, kind]) => ({
    name,
    resourceRef: { apiVersion: 'v1', kind, name: `its-${name}` },
  })),
});
const shootOf = (config: BadConfig) => ({
  ...{ apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot' },
  metadata: { namespace: PROJECT, name: 'bar', labels: config.labels },
  spec: {
    ...specOf(config),
    kubernetes: { version: '1.34.2' },
    extensions: [
      { type: 'shoot-flux', ...(config.providerConfig !== undefined && { providerConfig: config.providerConfig }) },
    ],
  },
});

test('there are at least fifty, of different kinds, and each has a sentence of its own', () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(50);
  expect(attacks.length).toBeGreaterThanOrEqual(30);
  expect(new Set(all.map(({ what }) => what)).size).toBe(all.length);
  expect(new Set(mistakes.map(({ sentence }) => sentence)).size).toBe(mistakes.length);
});

test.each(all)('$what is one sentence with object and remedy, and without secrets', ({ sentence }) => {
  expect(sentence).toMatch(/^(ConfigMap garden-foo\/flux-config|Secret garden-foo\/flux-\w+|providerConfig)\b/);
  // A remedy follows the problem, or is the question whether another word was meant.
  expect(sentence).toMatch(/[;,] \w|must be /);
  expect(sentence).not.toMatch(/\n|\. [A-Z]|undefined|\[object|; providerConfig|; ConfigMap|\bat .*:\d+:\d+/);
  expect(sentence).not.toContain(HIDDEN);
  expect(sentence.length).toBeLessThan(500);
});

const known = (to: 'validate' | 'admission') => all.filter(({ unknownTo = [] }) => !unknownTo.includes(to));

test.each(known('validate'))('validate says it: $what', async (config) => {
  const { fluxConfig: data } = config;
  const metadata = { namespace: PROJECT, name: 'flux-config' };
  await using input = await files({
    shoot: shootOf(config),
    fluxConfig: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
  });
  const options = ['--flux-distribution', ownDistribution, '--shoot', input.paths.shoot];
  const project = data === undefined ? [] : ['--flux-config', input.paths.fluxConfig];
  expect(await shootFlux(['validate', ...options, ...project])).toEqual({
    code: 1,
    out: `${config.sentence}\n`,
    err: '',
  });
});

test.each(all.filter(({ providerConfig }) => providerConfig !== undefined))(
  'admission says it where it can know: $what',
  (config) => {
    const request = { uid: 'u', operation: 'CREATE', object: shootOf(config) } as AdmissionRequest;
    const isUnknown = config.unknownTo?.includes('admission') === true;
    const said = { allowed: false, code: 422, message: config.sentence, details: { causes: { length: 1 } } };
    expect(decide(request)).toMatchObject(isUnknown ? { allowed: true } : said);
  },
);

describe.each(['a new Shoot', 'a running Shoot'])('%s', { timeout: patience }, (age) => {
  let apis: Apis;
  let stage: Stage;
  let before: unknown[];
  const isNew = age === 'a new Shoot';

  beforeAll(async () => {
    apis = await startEmbeddedApis();
    stage = await startStage(apis, ownDistribution);
    await stage.startProduct();
    if (!isNew) {
      await stage.setFluxConfig({ repositoryUrl: URL, repositoryBranch: 'main', syncMode: 'Reconcile' });
      await stage.reconcileShoot();
      await stage.untilReady();
    }
    before = [await everything(), await contents()];
  }, patience);

  afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
    await apis?.stop();
  });

  const secret = (namespace: string, name: string, content: Record<string, string>) => {
    const isRegistry = '.dockerconfigjson' in content;
    const type = isRegistry ? 'kubernetes.io/dockerconfigjson' : 'Opaque';
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name },
      type,
      data: base64(content),
    } as KubeObject;
  };
  const untilError = (sentence: string) =>
    eventually(
      sentence,
      stage.extension,
      ({ metadata, status }) =>
        status?.lastError?.description === sentence &&
        status.lastOperation?.description === sentence &&
        status.observedGeneration === metadata.generation &&
        metadata.annotations?.['gardener.cloud/operation'] === undefined,
      ({ status }) => status?.lastError?.description,
      30,
    );

  /** What the shoot has, and what the seed would write there. */
  const everything = async () => {
    const inSeed = { namespace: CONTROL_PLANE };
    const lists = [
      await stage.seed.list(resources.managedResources, inSeed),
      await stage.seed.list(resources.secrets, inSeed),
      await stage.shoot.list(resources.deployments, {}),
      await stage.shoot.list(resources.secrets, {}),
      await stage.shoot.list(resources.configMaps, {}),
      await stage.shoot.list(resources.customResourceDefinitions, {}),
    ];
    const objects = lists.flatMap(({ items }) => items).filter(({ metadata }) => !metadata.name.startsWith('ref-its-'));
    return objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name} ${metadata.uid}`);
  };
  const contents = async () =>
    Object.values(await stage.managedResources()).map(({ metadata, spec }) => [metadata.uid, spec.secretRefs]);

  /** An error of its own while the other parts change, so that no mixture of two configurations is valid. */
  const between = { providerConfig: fluxConfigOf({ between: true }) };

  test.each(all.filter(({ isRefusedByApi }) => isRefusedByApi !== true))(
    'gets nothing and hears it: $what',
    async (config) => {
      await stage.reconcileShoot(between);
      await eventually(
        'the first error',
        stage.extension,
        ({ status }) => status?.lastError?.description.includes('between') === true,
      );
      for (const name of ['flux-sops', 'flux-variables', 'flux-registry'])
        await stage.garden.delete(resources.secrets, { namespace: PROJECT, name });
      for (const [name, content] of Object.entries(config.ofProject ?? {})) {
        await stage.garden.apply(resources.secrets, secret(PROJECT, name, content), { fieldManager });
      }
      for (const [name, content] of Object.entries(config.contents ?? {})) {
        await stage.seed.apply(resources.secrets, secret(CONTROL_PLANE, `ref-its-${name}`, content), { fieldManager });
      }
      await stage.setFluxConfig(config.fluxConfig);
      await stage.reconcileShoot({
        providerConfig: config.providerConfig,
        spec: specOf(config),
        metadata: { labels: config.labels ?? {} },
      });
      const { status } = await untilError(withFullStop(config.sentence));
      expect(status?.lastError?.codes).toEqual(['ERR_RETRYABLE_CONFIGURATION_PROBLEM']);
      expect([await everything(), await contents()]).toEqual(before);
      if (isNew) expect(await contents()).toEqual([]);
      const events = (await stage.garden.list(resources.events, { namespace: PROJECT })).items;
      for (const seen of [stage.logLines.join(''), JSON.stringify(status), JSON.stringify(events)])
        expect(seen).not.toContain(HIDDEN);
    },
  );
});
