import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { kustomize, oldPipeline } from '../../shared/config/config.fixtures.ts';
import type { AdmissionAnswer } from '../../shared/kube/admission.ts';
import { reviewShoot } from './handler.ts';

interface Parts {
  providerConfig?: unknown;
  extension?: Record<string, unknown>;
  resources?: unknown;
  metadata?: Record<string, unknown>;
  spec?: Record<string, unknown>;
}

function shoot({ providerConfig, extension, resources, metadata, spec }: Parts = {}): object {
  const entry = { type: 'shoot-flux', ...(providerConfig !== undefined && { providerConfig }), ...extension };
  return {
    apiVersion: 'core.gardener.cloud/v1beta1',
    kind: 'Shoot',
    metadata: { namespace: 'garden-foo', name: 'bar', ...metadata },
    spec: { extensions: [{ type: 'other' }, entry], ...(resources !== undefined && { resources }), ...spec },
  };
}

type Landscape = Parameters<typeof reviewShoot>[1];
const created = (parts: Parts, landscape?: Landscape) =>
  reviewShoot({ uid: 'u', operation: 'CREATE', object: shoot(parts) }, landscape);
const updated = (before: Parts, after: Parts, landscape?: Landscape) =>
  reviewShoot({ uid: 'u', operation: 'UPDATE', object: shoot(after), oldObject: shoot(before) }, landscape);
const sentences = (answer: AdmissionAnswer) => (answer.allowed ? [] : answer.message.split('; providerConfig'));

const wrong = { syncMode: 'Sometimes' };
const naming = { additionalSecretResources: [{ name: 'x' }] };
const source = {
  template: { kind: 'GitRepository', spec: { url: 'https://example.com/fleet', ref: { branch: 'main' } } },
};
const kustomization = { template: { spec: { path: './clusters' } } };
const secret = (name: string, kind = 'Secret') => ({
  name,
  resourceRef: { apiVersion: 'v1', kind, name: `its-${name}` },
});

describe('admission of a providerConfig', () => {
  it.each<[string, Parts]>([
    ['that is absent', {}],
    ['that is null', { extension: { providerConfig: null } }],
    ['with source and Kustomization', { providerConfig: { source, kustomization } }],
    [
      'with references that resolve',
      {
        providerConfig: {
          source: { ...source, secretResourceName: 'fleet' },
          kustomization,
          additionalSecretResources: [{ name: 'sops' }],
        },
        resources: [secret('fleet'), secret('sops')],
      },
    ],
    // The ConfigMap of the project may add the rest, and is not read.
    [
      'with components that it may complete',
      { providerConfig: { flux: { components: ['helm-controller'] }, source, kustomization } },
    ],
    ['with an object that refers to one of its own', { providerConfig: { objects: [kustomize('a', 'main-gitrepo')] } }],
    ['with an object that refers to any other', { providerConfig: { objects: [kustomize('a', 'of-config-yaml')] } }],
    ['with a Kustomization alone', { providerConfig: { kustomization } }],
    ['with a source alone', { providerConfig: { source } }],
    [
      'that relies on the namespace of the ConfigMap',
      {
        providerConfig: {
          flux: { watchAllNamespaces: false },
          source: { template: { ...source.template, metadata: { namespace: 'flux-x' } } },
          kustomization: { template: { ...kustomization.template, metadata: { namespace: 'flux-x' } } },
        },
      },
    ],
  ])('allows one %s', (_, parts) => {
    expect(created(parts)).toEqual({ allowed: true });
  });

  it('rejects several errors with one sentence each', () => {
    const answer = created({ providerConfig: { ...wrong, sorce: {}, flux: { version: 'x' } } });
    expect(answer).toEqual({
      allowed: false,
      code: 422,
      reason: 'Invalid',
      message:
        'providerConfig: syncMode "Sometimes" is not a valid value; use one of Once, ManifestsOnly, Reconcile; ' +
        'providerConfig: sorce is not a known key; did you mean source?; ' +
        'providerConfig: flux.version "x" is not a Flux version; use a release such as v2.9.4 or a range such as 2.9.x, or omit it for the newest release',
      details: {
        group: 'core.gardener.cloud',
        kind: 'Shoot',
        name: 'bar',
        causes: expect.arrayContaining([
          {
            field: 'spec.extensions[1].providerConfig.syncMode',
            message: '"Sometimes" is not a valid value; use one of Once, ManifestsOnly, Reconcile',
          },
        ]),
      },
    });
  });

  it('rejects namespaces that no ConfigMap can make equal', () => {
    const within = (part: typeof source | typeof kustomization, namespace: string) => ({
      template: { ...part.template, metadata: { namespace } },
    });
    const rejected = (flux: object, ofKustomization: object) =>
      sentences(
        created({
          providerConfig: {
            flux: { watchAllNamespaces: false, ...flux },
            source: within(source, 'flux-x'),
            kustomization: ofKustomization,
          },
        }),
      );
    expect(rejected({ namespace: 'flux-y' }, kustomization)).toEqual([
      expect.stringContaining('source.template.metadata.namespace must be flux-y'),
    ]);
    expect(rejected({}, within(kustomization, 'flux-z'))).not.toEqual([]);
  });

  it('allows fields that are left out, with a warning for each', () => {
    const answer = created({ providerConfig: { objects: oldPipeline } });
    expect(answer).toMatchObject({ allowed: true, warnings: { length: 2 } });
  });
});

describe('admission of patches', () => {
  const any = '{ kind: any, metadata: { name: any } }';
  const good = { target: { kind: 'Deployment' }, patch: any };
  const withPatches = (...patches: object[]): Parts => ({ providerConfig: { flux: { patches } } });

  it('rejects a wrong one', () => {
    expect(sentences(created(withPatches(good, { patch: '[]' })))).toEqual([
      expect.stringContaining('providerConfig: flux.patches[1] is a list of operations without a target; add a target'),
    ]);
  });

  it('allows those that an installation could take, whatever is installed', () => {
    expect(created(withPatches(good, { target: { kind: 'None' }, patch: any }))).toEqual({ allowed: true });
  });

  it('lets a Shoot with a wrong one be edited elsewhere', () => {
    const wrongPatch = withPatches({ patch: '[]' });
    expect(updated(wrongPatch, { ...wrongPatch, metadata: { labels: { stage: 'dev' } } })).toEqual({ allowed: true });
    const edited = { providerConfig: { ...(wrongPatch.providerConfig as object), syncMode: 'Once' } };
    expect(sentences(updated(wrongPatch, edited))).toEqual([expect.stringContaining('flux.patches[0]')]);
  });
});

describe('admission of a Shoot', () => {
  const leaving = (metadata: object = {}) => ({
    providerConfig: wrong,
    metadata: { deletionTimestamp: '2026-01-02T03:04:05Z', ...metadata },
  });

  it.each<[string, AdmissionAnswer]>([
    ['when it is deleted', reviewShoot({ uid: 'u', operation: 'DELETE', oldObject: shoot({ providerConfig: wrong }) })],
    ['while it is being deleted', created(leaving())],
    [
      'when a finalizer is removed from one that is being deleted',
      updated(leaving({ finalizers: ['gardener'] }), leaving({ finalizers: [] })),
    ],
    [
      'when a deletion that is forced is confirmed',
      updated(leaving(), leaving({ annotations: { 'confirmation.gardener.cloud/force-deletion': 'true' } })),
    ],
    ['without the extension', created({ spec: { extensions: [{ type: 'other', providerConfig: wrong }] } })],
    ['without any extension', created({ spec: { extensions: undefined } })],
    ['with the extension disabled', created({ providerConfig: wrong, extension: { disabled: true } })],
    [
      'when something else changes',
      updated({ providerConfig: wrong }, { providerConfig: wrong, spec: { purpose: 'x' } }),
    ],
    [
      'when a resource is added that it does not name',
      updated({ providerConfig: wrong }, { providerConfig: wrong, resources: [secret('x')] }),
    ],
    [
      'when another extension before it is removed',
      updated({ providerConfig: wrong }, { spec: { extensions: [{ type: 'shoot-flux', providerConfig: wrong }] } }),
    ],
  ])('is granted without validation %s', (_, answer) => {
    expect(answer).toEqual({ allowed: true });
  });

  it('validates a Shoot whose deletionTimestamp is null', () => {
    expect(created({ providerConfig: wrong, metadata: { deletionTimestamp: null } }).allowed).toBe(false);
  });

  it('reports only issues of changed resources when the providerConfig is unchanged', () => {
    const stored = { ...wrong, additionalSecretResources: [{ name: 'x' }, { name: 'y' }, { name: 'sops' }] };
    const renamed = { name: 'x', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'next' } };
    const changed = (resources: unknown[]) =>
      updated({ providerConfig: stored, resources: [secret('x')] }, { providerConfig: stored, resources });
    expect(changed([renamed])).toEqual({ allowed: true });
    expect(changed([secret('x'), secret('sops')])).toEqual({ allowed: true });
    expect(sentences(changed([]))).toEqual([
      expect.stringMatching(/^providerConfig: additionalSecretResources\[0\]\.name "x" is not an entry/),
    ]);
  });

  it.each<[string, AdmissionAnswer]>([
    ['its providerConfig', updated({}, { providerConfig: wrong })],
    [
      'a resource that it names',
      updated({ providerConfig: naming, resources: [secret('x')] }, { providerConfig: naming }),
    ],
    ['disabled', updated({ providerConfig: wrong, extension: { disabled: true } }, { providerConfig: wrong })],
  ])('validates again when %s changes', (_, answer) => {
    expect(answer.allowed).toBe(false);
  });
});

describe('admission of very large requests', () => {
  const times = <T>(count: number, entry: (index: number) => T) => Array.from({ length: count }, (_, i) => entry(i));
  const naming = (count: number) => ({ additionalSecretResources: times(count, (i) => ({ name: `n${i}` })) });

  test('rejects many references without entries with a short answer, and allows later changes', () => {
    const given = { providerConfig: naming(100), resources: times(15_000, (i) => secret(`other-${i}`)) };
    const answer = created(given);
    expect(JSON.stringify(answer).length).toBeLessThan(30_000);
    expect(answer).toMatchObject({
      allowed: false,
      code: 422,
      message: expect.stringContaining('other-9 and 14990 more)'),
    });
    expect(updated(given, { ...given, metadata: { labels: { a: 'b' } } })).toEqual({ allowed: true });
  });

  test('reports how many more issues there are', () => {
    const answer = created({ providerConfig: naming(25) });
    expect(answer.allowed ? '' : answer.message).toMatch(/; and 5 more$/);
  });
});

describe('admission of a malformed request', () => {
  it.each([[null], [{ kind: 'Pod', metadata: {} }], [{ kind: 'Shoot' }]])('rejects %j', (object) => {
    expect(reviewShoot({ uid: 'u', operation: 'CREATE', object })).toMatchObject({ allowed: false, code: 400 });
  });

  test('never throws, whatever the Shoot contains', () => {
    const anything = fc.anything({ withNullPrototype: true, maxDepth: 5 });
    fc.assert(
      fc.property(anything, anything, anything, anything, (spec, extensions, providerConfig, resources) => {
        const shoots = [
          { kind: 'Shoot', metadata: {}, spec },
          { kind: 'Shoot', metadata: {}, spec: { extensions, resources } },
          { kind: 'Shoot', metadata: {}, spec: { extensions: [{ type: 'shoot-flux', providerConfig }], resources } },
        ];
        for (const object of shoots) {
          const answer = reviewShoot({ uid: 'u', operation: 'UPDATE', object, oldObject: spec });
          expect(answer.allowed || (answer.code === 422 && answer.message !== '')).toBe(true);
        }
      }),
    );
  });
});

describe('addons in admission', () => {
  const provider = { kind: 'Provider', metadata: { name: 'chat' }, spec: { type: 'generic' } };
  const landscape = { addons: { chat: { objects: [provider], projects: ['foo'] } } };

  it('are refused when the landscape does not have them', () => {
    expect(created({ providerConfig: { addons: ['chat', 'caht'] } }, landscape)).toMatchObject({
      allowed: false,
      message:
        'providerConfig: addons[1] "caht" is not an addon of this landscape (did you mean chat?); use chat, or remove it',
    });
    const stored = { addons: ['gone'] };
    expect(updated({ providerConfig: stored }, { providerConfig: stored }, landscape)).toEqual({ allowed: true });
  });

  it('may be listed whatever the project, which is judged later', () => {
    expect(created({ providerConfig: { addons: ['chat'] } }, landscape)).toEqual({ allowed: true });
  });
});

describe("the landscape's policy in admission", () => {
  const landscape = {
    policy: {
      allowedRepositoryUrls: ['https://git.example.com/**'],
      allowedVersions: ['2.9.x'],
      requireMultiTenancy: true,
    },
  };
  const inLandscape = (providerConfig: unknown, before?: unknown) =>
    before === undefined
      ? created({ providerConfig }, landscape)
      : updated({ providerConfig: before }, { providerConfig }, landscape);
  const at = (url: string) => ({
    source: { template: { kind: 'GitRepository', spec: { url, ref: { branch: 'main' } } } },
    kustomization,
  });

  it('refuses what a providerConfig sets, with its sentence', () => {
    expect(
      inLandscape({ ...at('https://evil.example/x'), flux: { version: '2.8.x', multiTenancy: false } }),
    ).toMatchObject({
      allowed: false,
      message: [
        'providerConfig: flux.version "2.8.x" is not allowed by allowedVersions in the policy of this landscape; use 2.9.x',
        'providerConfig: flux.multiTenancy false is not allowed by requireMultiTenancy in the policy of this landscape; remove it, or set it to true',
        'providerConfig: source.template.spec.url "https://evil.example/x" is not allowed by allowedRepositoryUrls in the policy of this landscape; use https://git.example.com/**',
      ].join('; '),
    });
  });

  it.each([[{}], [at('https://git.example.com/fleet')], [{ kustomization }], [{ flux: { version: '2.9.4' } }]])(
    'does not judge the ConfigMap, which it does not read: %j',
    (providerConfig) => {
      expect(inLandscape(providerConfig)).toEqual({ allowed: true });
    },
  );

  it('lets a Shoot be changed whose configuration was stored before the policy became stricter', () => {
    const stored = at('https://evil.example/x');
    expect(inLandscape(stored, stored)).toEqual({ allowed: true });
    expect(inLandscape({ ...stored, syncMode: 'Once' }, stored)).toMatchObject({ allowed: false });
  });
});
