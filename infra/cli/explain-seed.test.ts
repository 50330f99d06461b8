import { seedCrds } from '@shoot-flux/landscape/crds';
import { type JsonObject, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  appliedFactory,
  conditionFactory,
  extensionFactory,
  lastOperationFactory,
  managedResourceFactory,
} from '../../shared/gardener/testing.ts';
import type { ExtensionStatus } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { shootOn, startGarden, statusMapOf } from '../fleet/testing.ts';
import { files, fluxConfigOf, shootFlux } from './testing.ts';

const names = ['crds', 'controllers', 'secrets', 'sync'].map((name) => `shoot-flux-${name}`);
const applied = appliedFactory({ managedResources: Object.fromEntries(names.map((name) => [name, `${name}-1`])) });
const refused =
  'error during apply of object "v1/Secret/flux-system/flux-source": admission webhook "no.example" denied the request: data.password s3cr3t is weak';

const stack = new AsyncDisposableStack();
let garden: Awaited<ReturnType<typeof startGarden>>;
let seed: Awaited<ReturnType<typeof startKubeApi>>;
let paths: { seed: string };

type Created = Parameters<typeof seed.objects.create>[0];

function create({ status, ...object }: KubeObject): void {
  seed.objects.ensureNamespace(object.metadata.namespace ?? '');
  seed.objects.create(object as unknown as Created);
  if (status !== undefined) seed.objects.patchStatus(object as unknown as Created, status as object);
}

/** Creates a control plane of the Shoot, with what the ManagedResources and the Extension report. */
function controlPlane(
  name: string,
  status: Partial<ExtensionStatus>,
  conditions: Record<string, object | 'missing'> = {},
) {
  const metadata = { namespace: `shoot--foo--${name}` };
  const { metadata: own, ...extension } = extensionFactory({
    status: { lastOperation: lastOperationFactory(), state: { applied }, ...status },
  });
  create({ ...extension, metadata: { name: own.name, ...metadata } });
  for (const managed of names) {
    const condition = conditions[managed] ?? {};
    if (condition === 'missing') continue;
    const resource = managedResourceFactory(managed, `${managed}-1`);
    const { labels = {}, annotations = {} } = resource.metadata;
    create({
      ...resource,
      metadata: { name: managed, labels, annotations, ...metadata },
      status: { observedGeneration: 1, conditions: [conditionFactory(condition)] },
    });
  }
}

beforeAll(async () => {
  seed = stack.use(
    await startKubeApi({
      authorization: 'RBAC',
      tokens: { 'other-token': { name: 'nick' } },
      objects: seedCrds() as unknown as JsonObject[],
    }),
  );
  const shoots = ['good', 'refused', 'gone', 'failed', 'kept', 'broken', 'none'];
  const lines = Object.fromEntries(shoots.map((name) => [name, { state: 'Ready', flux: 'v2.9.4' } as const]));
  garden = stack.use(
    await startGarden([
      ...shoots.map((name) =>
        shootOn('aws-1', 'garden-foo', name, {
          status: { technicalID: `shoot--foo--${name}`, seedName: 'aws-1', lastOperation: lastOperationFactory() },
        }),
      ),
      fluxConfigOf({}),
      statusMapOf('garden-foo', lines),
    ]),
  );
  controlPlane('good', {
    conditions: [conditionFactory({ type: 'FluxReady', message: 'Flux v2.9.4 is running. (config c0ffee)' })],
  });
  controlPlane('refused', {}, { 'shoot-flux-secrets': { status: 'False', reason: 'ApplyFailed', message: refused } });
  controlPlane('gone', {}, { 'shoot-flux-sync': 'missing' });
  const kept = {
    type: 'ConfigurationFollowed',
    status: 'False',
    message: 'The last applied configuration is kept.',
  } as const;
  controlPlane('kept', { conditions: [conditionFactory(kept)] });
  const unready = { type: 'SourceReady', status: 'False', message: 'It waits for the network.' } as const;
  const wrong = {
    type: 'KustomizationReady',
    status: 'False',
    message: 'Correct the path. (config c0ffee)',
    codes: ['ERR'],
  } as const;
  controlPlane('broken', {
    conditions: [conditionFactory(unready), conditionFactory({ ...wrong, codes: [...wrong.codes] })],
  });
  controlPlane('failed', {
    lastOperation: lastOperationFactory({ state: 'Error' }),
    lastError: { description: 'providerConfig: source.template is missing; set it.' },
  });
  paths = stack.use(await files({ seed: seed.kubeconfig() })).paths;
});
afterAll(() => stack.disposeAsync());

const explain = (name: string, ...args: string[]) =>
  shootFlux([
    'explain',
    name,
    '--kubeconfig',
    garden.people.operator,
    '--seed-kubeconfig',
    paths.seed,
    '--shoot-kubeconfig',
    'none',
    ...args,
  ]);

const linesOf = (out: string, link: string) =>
  new RegExp(`^\\S ${link} .*\\n(?: .*\\n)*`, 'm').exec(out)?.[0].split('\n');

describe('shoot-flux explain, in the seed', () => {
  it('shows the Extension, its conditions and the ManagedResources', async () => {
    const { out, err, code } = await explain('good', '-o', 'wide');
    expect(linesOf(out, 'Operation')?.slice(2)).toEqual([
      expect.stringMatching(/^ +Extension: Create Succeeded \(100%\), \d+d ago: applied$/),
      '                 Record: Flux v2.9.4, syncMode Once, configuration c0ffee',
      '                 FluxReady True: Flux v2.9.4 is running.',
      '',
    ]);
    expect(linesOf(out, 'Delivery')).toEqual([
      '✔ Delivery       4 of 4 ManagedResources are applied',
      ...names.map((name) => `                 ManagedResource ${name} is applied`),
      '',
    ]);
    expect(err).toBe("Not seen: Flux, the landscape's defaults and policy (--config FILE).\n");
    expect(code).toBe(0);
  });

  it.each<[string, string, string, string]>([
    [
      'refused',
      'Delivery',
      'ManagedResource shoot-flux-secrets: Secret flux-system/flux-source: the admission webhook',
      'managedresource shoot-flux-secrets',
    ],
    [
      'gone',
      'Delivery',
      'ManagedResource shoot-flux-sync does not exist; the next run of shoot-flux creates it.',
      'managedresource shoot-flux-sync',
    ],
    ['failed', 'Operation', 'providerConfig: source.template is missing; set it.', 'extension shoot-flux'],
    ['kept', 'Operation', 'The last applied configuration is kept.', 'extension shoot-flux'],
    [
      'none',
      'Operation',
      'Extension shoot--foo--none/shoot-flux does not exist in this seed; enable',
      'extension shoot-flux',
    ],
    ['broken', 'Operation', 'Correct the path.', 'extension shoot-flux'],
  ])('of Shoot %s marks %s', async (name, link, sentence, object) => {
    const { out, code } = await explain(name);
    expect(out.match(/^✗ \w+/gm)).toEqual([`✗ ${link}`]);
    const [, why, command] = linesOf(out, link) ?? [];
    expect(why?.trim().startsWith(sentence)).toBe(true);
    expect(command?.trim()).toBe(
      `$ kubectl get ${object} -o yaml --namespace shoot--foo--${name} --kubeconfig ${paths.seed}`,
    );
    expect(out).not.toContain('s3cr3t');
    expect(code).toBe(1);
  });

  it('says what a person sees who may not read the seed', async () => {
    await using nobody = await files({ seed: seed.kubeconfig('other-token') });
    const { out } = await explain('good', '--seed-kubeconfig', nobody.paths.seed);
    expect(out).toMatch(/^\? Delivery .*403/m);
  });
});
