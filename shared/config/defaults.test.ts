import { describe, expect, it, test } from 'vitest';
import {
  gitRepository,
  kustomization,
  problems,
  withConfig,
  withFluxConfig,
  withTemplates,
} from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import { readLandscape } from './landscape.ts';
import type { ConfigInputs, Defaults } from './types.ts';

const merged = (defaults: Defaults, inputs: ConfigInputs = {}) =>
  effectiveConfig({ ...inputs, landscape: { defaults } });

describe("the landscape's defaults", () => {
  const defaults = {
    flux: { version: '2.9.x', registry: 'registry.example.com/fluxcd', components: ['source-controller'] },
    syncMode: 'Reconcile',
  };

  it('count where nothing else is configured', () => {
    const { flux, syncMode, origins } = merged(defaults);
    expect({ flux, syncMode }).toMatchObject({ flux: defaults.flux, syncMode: 'Reconcile' });
    expect(flux.namespace).toBe('flux-system');
    expect(origins['flux.registry']).toEqual({ object: "the landscape's defaults", path: 'flux.registry' });
  });

  it('are below flux-config and providerConfig, option by option', () => {
    const inputs = {
      ...withFluxConfig({ fluxVersion: 'v2.8.1', syncMode: 'Once' }),
      ...withConfig({ flux: { registry: 'ghcr.io/fluxcd' } }),
    };
    const { flux, syncMode } = merged(defaults, inputs);
    expect(syncMode).toBe('Once');
    expect(flux).toMatchObject({ version: 'v2.8.1', registry: 'ghcr.io/fluxcd', components: ['source-controller'] });
  });

  it('may hold a source with its Kustomization, which a project replaces as a whole', () => {
    const withSource = { source: { template: gitRepository() }, kustomization: { template: kustomization() } };
    expect(merged(withSource).source?.spec).toMatchObject({ url: 'https://github.com/org/fleet' });
    const own = merged(withSource, withFluxConfig({ repositoryUrl: 'https://git.example.com/own' }));
    expect(own.source).toMatchObject({
      metadata: { name: 'main-gitrepo' },
      spec: { url: 'https://git.example.com/own' },
    });
    expect(own.kustomization?.metadata.name).toBe('main-ks');
  });
});

it.each<[object, ...string[]]>([
  [{}],
  [{ defaults: null, policy: null }],
  [{ defaults: [] }, "the landscape's defaults must be an object, not a list"],
  [
    { defaults: { flux: { regstry: 'x' } }, policy: { allowedVersion: ['2.x'] } },
    "the landscape's defaults: flux.regstry is not a known key; did you mean registry?",
    "the landscape's policy: allowedVersion is not a known key; did you mean allowedVersions?",
  ],
  [
    {
      defaults: {
        additionalSecretResources: [{ name: 'x' }],
        source: { template: gitRepository(), secretResourceName: 'x' },
        kustomization: { template: kustomization() },
      },
    },
    "the landscape's defaults: additionalSecretResources refers to spec.resources of a Shoot, which differ between Shoots; remove it",
    "the landscape's defaults: source.secretResourceName refers to spec.resources of a Shoot, which differ between Shoots; remove it",
  ],
  [
    { defaults: { source: { template: gitRepository() } } },
    "the landscape's defaults: kustomization is missing, but source is set; set both or neither",
  ],
  [
    { policy: { allowedVersions: ['latest', 'two'], allowedRegistries: [], allowedRepositoryUrls: 'x' } },
    'the landscape\'s policy: allowedVersions[0] "latest" names no release; use a release such as v2.9.4 or a range such as 2.9.x',
    'the landscape\'s policy: allowedVersions[1] "two" is not a Flux version; use a release such as v2.9.4 or a range such as 2.9.x, or omit it for the newest release',
    "the landscape's policy: allowedRegistries is empty, which would allow nothing; add an entry, or remove the list to allow everything",
    'the landscape\'s policy: allowedRepositoryUrls must be a list, not a string; start each entry with "- "',
  ],
  [
    { defaults: { pullSecret: { name: 'mine' } } },
    "the landscape's defaults: pullSecret.name must be shoot-flux-pull-secret in the garden, because the rights name it; omit it, or set in to seed",
  ],
  [{ defaults: { pullSecret: { in: 'seed', name: 'mine', namespace: 'garden' } } }],
  [
    { policy: { allowedRegistries: ['registry.example.com/**'] } },
    'the landscape\'s defaults: flux.registry "ghcr.io/fluxcd" is not allowed by allowedRegistries in the policy of this landscape; use registry.example.com/**',
  ],
  [
    {
      defaults: { flux: { registry: 'registry.example.com/a' } },
      policy: { allowedRegistries: ['registry.example.com/**'] },
    },
  ],
  [
    { rollout: { waves: [{ shoots: { matchLabel: {} } }], pause: 'soon', maxInProgress: '10%', maxFailed: -1 } },
    "the landscape's rollout: waves[0].name is missing; set it, for example canary",
    "the landscape's rollout: waves[0].shoots.matchLabel is not a known key; did you mean matchLabels?",
    'the landscape\'s rollout: pause "soon" is not a duration; use numbers with the units h, m, s or ms, for example 5m or 1h30m',
    'the landscape\'s rollout: maxInProgress is "10%"; use a whole number from 1 to 10000',
    'the landscape\'s rollout: maxFailed is "-1"; use a whole number from 0 to 10000',
  ],
  [{ rollout: { waves: [{ name: 'all' }], pause: '1h30m', maxInProgress: 5, maintenanceWindow: true } }],
])('a landscape is checked at the start: %j', (landscape, ...sentences) => {
  expect(problems({}, () => readLandscape(landscape))).toEqual(sentences);
});

describe('the pull secret of the landscape', () => {
  const landscape = { defaults: { pullSecret: {} } };
  const copy = {
    origin: { type: 'landscape', secret: { in: 'garden', namespace: 'garden', name: 'shoot-flux-pull-secret' } },
    targetName: 'shoot-flux-pull-secret',
    namespace: 'flux-system',
  };

  it('is copied into the namespace of Flux, wherever that is', () => {
    expect(effectiveConfig({ landscape }).pullSecret).toEqual(copy);
    const moved = effectiveConfig({ landscape, ...withConfig({ flux: { namespace: 'my-flux' } }) });
    expect(moved.pullSecret).toEqual({ ...copy, namespace: 'my-flux' });
  });

  it('keeps its name for itself', () => {
    const additional = withConfig({
      additionalSecretResources: [{ name: 'x', targetName: 'shoot-flux-pull-secret' }],
    });
    expect(problems({ landscape, ...additional })).toEqual([
      'providerConfig: additionalSecretResources[0].targetName "shoot-flux-pull-secret" in namespace flux-system is already taken by the landscape\'s pull secret; use another targetName',
    ]);
    const secretRef = { name: 'shoot-flux-pull-secret' };
    const source = { template: gitRepository({ secretRef }), secretResourceName: 'x' };
    const credentials = withTemplates({}, kustomization(), { source });
    expect(problems({ landscape, ...credentials })).toEqual([
      'providerConfig: source.template.spec.secretRef.name "shoot-flux-pull-secret" in namespace flux-system is already taken by the landscape\'s pull secret; use another name',
    ]);
  });
});

describe('multiTenancy', () => {
  const source = { repositoryUrl: 'https://git.example.com/fleet' };

  it('keeps the rights of the root Kustomization', () => {
    const { kustomization: ks, flux } = effectiveConfig(withFluxConfig({ ...source, multiTenancy: 'true' }));
    expect(flux.multiTenancy).toBe(true);
    expect(ks?.spec).toMatchObject({ serviceAccountName: 'kustomize-controller' });
    const own = withTemplates(gitRepository(), kustomization({ serviceAccountName: 'mine' }), {
      flux: { multiTenancy: true },
    });
    expect(effectiveConfig(own).kustomization?.spec).toMatchObject({ serviceAccountName: 'mine' });
  });

  it('is absent where it is off, so that no hash changes', () => {
    expect(effectiveConfig(withFluxConfig({ ...source, multiTenancy: 'false' })).flux).not.toHaveProperty(
      'multiTenancy',
    );
  });

  it('is on where the policy requires it and nothing says otherwise', () => {
    const landscape = { policy: { requireMultiTenancy: true } };
    expect(effectiveConfig({ landscape, ...withFluxConfig(source) }).flux.multiTenancy).toBe(true);
  });

  test('needs source and Kustomization in one namespace, and an account outside of that of Flux', () => {
    const apart = (fields: object, metadata: object) =>
      withTemplates(gitRepository({}, { metadata: { namespace: 'a' } }), kustomization(fields, { metadata }), {
        flux: { multiTenancy: true },
      });
    const ofShoot = { source: { template: gitRepository({}, { metadata: { namespace: 'a' } }) } };
    expect(problems({ ...withFluxConfig({ ...source, multiTenancy: 'true' }), ...withConfig(ofShoot) })).toEqual([
      'providerConfig: source.template.metadata.namespace must be flux-system, the namespace of the Kustomization, because multiTenancy is true',
    ]);
    expect(problems(apart({}, { namespace: 'b' }))).toEqual([
      'providerConfig: kustomization.template.metadata.namespace must be a, the namespace of its source, because multiTenancy is true',
      'providerConfig: kustomization.template.spec.serviceAccountName is missing, which multiTenancy requires outside of flux-system; name a ServiceAccount that may apply the objects',
    ]);
    expect(problems(apart({ serviceAccountName: 'deployer' }, { namespace: 'a' }))).toEqual([]);
  });
});
