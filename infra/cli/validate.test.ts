import { truncate } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { oldPipeline } from '../../shared/config/config.fixtures.ts';
import { standIn } from '../../shared/flux/testing.ts';
import { files, fluxConfigOf, runWith, shootFlux, shootOf } from './testing.ts';

const validate = (config: unknown, ...args: string[]) => runWith('validate', { 'provider-config': config }, ...args);

test('prints nothing for a valid configuration', async () => {
  expect(await validate({ flux: { version: '2.9.x' } })).toEqual({ code: 0, out: '', err: '' });
  expect(await validate({ flux: { version: '2.9.x' } }, '--json')).toEqual({ code: 0, out: '[]\n', err: '' });
});

test('warns of fields that are left out, and the configuration is valid', async () => {
  const config = { objects: oldPipeline };
  const { code, out, err } = await validate(config);
  expect({ code, out }).toEqual({ code: 0, out: '' });
  expect(err.trimEnd().split('\n')).toEqual(
    [0, 1].map((index) =>
      expect.stringMatching(
        `^warning: providerConfig: objects\\[${index}\\]\\.spec\\.\\w+ is left out, because the API has dropped it`,
      ),
    ),
  );
  expect((await validate(config, '--json')).out).toBe('[]\n');
});

test.each([
  [{ replicas: 'two' }, 'spec.replicas must be an integer, not a string; write a number without quotes'],
  [{ strategy: { rollingUpdate: { maxSurge: false } } }, 'spec.strategy.rollingUpdate.maxSurge must be an integer or'],
  [
    { template: { spec: { containers: [{ name: 'manager', args: 'text' }] } } },
    'has a single value at spec.template.spec.containers[].args, which is a list; correct it',
  ],
])('refuses a patch with a wrong type for a Deployment: %j', async (spec, sentence) => {
  const patch = JSON.stringify({ kind: 'Deployment', metadata: { name: 'source-controller' }, spec });
  const { code, out } = await validate({ flux: { patches: [{ target: { kind: 'Deployment' }, patch }] } });
  expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining(sentence) });
  expect(out).toMatch(/^providerConfig: flux\.patches\[0\] /);
});

describe('a Kubernetes that the Flux release does not support', () => {
  const shoot = (providerConfig?: object) => {
    const extensions = [{ type: 'shoot-flux', ...(providerConfig && { providerConfig }) }];
    return shootOf({ kubernetes: { version: '1.30.5' }, extensions });
  };
  const layered = (config: Record<string, unknown>) => ({ 'flux-config': fluxConfigOf(config), shoot: shoot() });
  const what = 'resolves to Flux v2.9.99, which supports Kubernetes 1.34 to 1.36, but the Shoot has 1.30.5';
  const remedy = 'upgrade the Shoot to Kubernetes 1.34';

  test.each(
    Object.entries({
      'ConfigMap garden-foo/flux-config: fluxVersion': layered({ fluxVersion: 'v2.9.99' }),
      'ConfigMap garden-foo/flux-config: config.yaml.flux.version': layered({
        'config.yaml': 'flux: {version: 2.9.x}',
      }),
      'providerConfig: flux.version': { shoot: shoot({ flux: { version: '>=2.9' } }) },
      "the landscape's defaults: flux.version": { shoot: shoot(), config: 'defaults: {flux: {version: 2.9.x}}' },
    }),
  )('is a warning of %s', async (place, inputs) => {
    const warning = `warning: ${place} ${what}; ${remedy}\n`;
    expect(await runWith('validate', inputs)).toEqual({ code: 0, out: '', err: warning });
    expect(await runWith('render', inputs)).toMatchObject({ code: 0, err: warning });
  });

  test('is an error where the policy requires support', async () => {
    const config = 'policy: {requireSupportedKubernetes: true}';
    expect(await runWith('validate', { ...layered({ fluxVersion: '2.9.x' }), config })).toEqual({
      code: 1,
      out: `ConfigMap garden-foo/flux-config: fluxVersion ${what}, which is not allowed by requireSupportedKubernetes in the policy of this landscape; ${remedy}\n`,
      err: '',
    });
  });
});

test('--upgrade-from warns of what behaves differently with the release of the configuration', async () => {
  const warnings = async (...args: string[]) => {
    const { code, out, err } = await validate(
      { flux: { components: ['source-controller', 'kustomize-controller'] } },
      ...args,
    );
    expect({ code, out }).toEqual({ code: 0, out: '' });
    return err.trimEnd().split('\n');
  };
  const [first, ...rest] = await warnings('--upgrade-from', 'v2.8.8');
  expect(first).toMatch(/^warning: From Flux v2\.9\.0 on a Kustomization with postBuild fails on a variable/);
  expect(rest).toEqual([]);
  expect(await warnings('--upgrade-from', '2.7.5')).toHaveLength(3);
  expect(await warnings('--upgrade-from', 'v2.9.4')).toEqual(['']);
});

test('--upgrade-from says that an older release is no upgrade', async () => {
  const { err } = await validate({ flux: {} }, '--upgrade-from', 'v2.10.0');
  expect(err).toBe(
    'warning: Flux v2.10.0 is never downgraded, so a Shoot that runs it does not get Flux v2.9.99, and reports an error if its syncMode still applies Flux; use v2.10.0 or a newer release.\n',
  );
});

test.each([
  [['--upgrade-from', 'newest'], '--upgrade-from needs a release, for example v2.8.8'],
  [['--upgrade-from', 'v2.8.8', '--fleet', '.'], '--upgrade-from is for one Shoot; omit --fleet'],
])('refuses %j', async (args, sentence) => {
  const ran = await shootFlux(['validate', '--flux-distribution', standIn.folder, ...args]);
  expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringContaining(sentence) });
});

test('says what a Shoot that runs already keeps, unless the configuration decides it', async () => {
  const status = { lastOperation: { type: 'Reconcile' } };
  const warned = async (data: object, shoot: object) =>
    (await runWith('validate', { 'flux-config': fluxConfigOf({ ...data }), shoot })).err;
  expect(await warned({}, { ...shootOf(), status })).toBe(
    'warning: if the Kustomization main-ks of Shoot bar runs with targetNamespace default, it keeps it; set kustomizationTargetNamespace in ConfigMap flux-config to default to keep it for good, or to none to have each object in its own namespace, for which Flux deletes the objects in namespace default and creates them anew.\n',
  );
  expect(await warned({ kustomizationTargetNamespace: 'none' }, { ...shootOf(), status })).toBe('');
  expect(await warned({}, shootOf())).toBe('');
});

test('warns where a Shoot with IPv6 alone would pull from ghcr.io', async () => {
  const shoot = { ...shootOf(), spec: { networking: { ipFamilies: ['IPv6'] } } };
  const warned = async (data: object) =>
    (await runWith('validate', { 'flux-config': fluxConfigOf({ ...data }), shoot })).err;
  expect(await warned({})).toMatch(/^warning: configuration: flux\.registry "ghcr\.io\/fluxcd" is on ghcr\.io, .*\n$/);
  expect(await warned({ registry: 'registry.example.com/fluxcd' })).toBe('');
});

test('prints one line for each issue', async () => {
  const { code, out, err } = await validate({ flux: { logLevel: 'loud', componens: [] }, syncMode: 'Never' });
  expect({ code, err }).toEqual({ code: 1, err: '' });
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line).toMatch(/^providerConfig: (flux|syncMode)/);
});

test('checks the configuration against the distribution', async () => {
  const { code, out } = await validate({ flux: { version: 'v2.9.4' } }, '--json');
  const message = expect.stringContaining('"v2.9.4" matches no Flux release; available releases are v2.9.99');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual([{ object: 'providerConfig', path: 'flux.version', message }]);
});

const bomb = `a: &a [x, x]\n${'bcdefghijklmnopq'
  .split('')
  .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghijklmnop'[index]}`).join(', ')}]\n`)
  .join('')}`;

test.each([
  ['with many aliases', bomb, 'has a value that JSON cannot express'],
  ['with 100,000 brackets', '['.repeat(100_000), 'is nested too deeply; correct the file.'],
  ['of 3 MiB', `a: ${'x'.repeat(3 * 1024 * 1024)}`, 'is larger than 3 MiB, more than an API server accepts'],
])('reports a file %s in one sentence', async (_, config, sentence) => {
  const { code, out, err } = await runWith('validate', { 'provider-config': config });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining(sentence)]);
});

test('a file that is much too large is not read', async () => {
  await using input = await files({ large: '' });
  await truncate(input.paths.large, 5 * 1024 ** 3);
  const options = ['--flux-distribution', standIn.folder, '--provider-config', input.paths.large];
  const { code, err } = await shootFlux(['validate', ...options]);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('large is larger than 3 MiB') });
});

describe('with a config file of the landscape', () => {
  const landscape = `
defaults:
  flux:
    registry: registry.example.com/fluxcd
  pullSecret: {}
policy:
  allowedRegistries: [registry.example.com/**]
  allowedVersions: [2.9.x]
port: 8080
`;
  const validateIn = (config: string, providerConfig: unknown, command = 'validate') =>
    runWith(command, { config, 'provider-config': providerConfig });

  test('the policy judges what its defaults do not set', async () => {
    expect(await validateIn(landscape, {})).toEqual({ code: 0, out: '', err: '' });
    expect(await validateIn(landscape, { flux: { registry: 'ghcr.io/fluxcd', version: '2.8.x' } })).toEqual({
      code: 1,
      out:
        'providerConfig: flux.version "2.8.x" is not allowed by allowedVersions in the policy of this landscape; use 2.9.x\n' +
        'providerConfig: flux.registry "ghcr.io/fluxcd" is not allowed by allowedRegistries in the policy of this landscape; use registry.example.com/**\n',
      err: '',
    });
  });

  test('the pull secret is named, and its content is not printed', async () => {
    const { out } = await validateIn(landscape, {}, 'render');
    expect(out).toContain(
      "# Secret flux-system/shoot-flux-pull-secret: the landscape's pull secret, a copy of garden/shoot-flux-pull-secret in the garden.",
    );
  });

  test('a wrong policy is an error of the file', async () => {
    const { code, out, err } = await validateIn('policy: {allowedVersion: []}', {});
    expect(code).not.toBe(0);
    expect(out + err).toContain("the landscape's policy: allowedVersion is not a known key");
  });
});
