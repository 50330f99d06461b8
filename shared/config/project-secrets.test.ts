import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube/resource.ts';
import {
  gitRepository,
  kustomization,
  ociRepository,
  problems,
  withConfig,
  withFluxConfig,
  withTemplates,
} from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import type { ProjectSecretName } from './project-config.ts';
import { projectSecretOf } from './project-secret-content.ts';
import { neededProjectSecrets } from './project-secrets.ts';
import type { ConfigInputs, EffectiveConfig } from './types.ts';

const REPOSITORY = { repositoryUrl: 'https://github.com/org/fleet' };
const project = (inputs: ConfigInputs, ...names: ProjectSecretName[]): ConfigInputs => ({
  ...inputs,
  projectSecrets: names.map((name) => ({ name, namespace: 'garden-foo' })),
});
const inProject = (source: object, ks?: object, fields?: object): ConfigInputs => ({
  ...withFluxConfig({}),
  ...withTemplates(source, ks, fields),
});
const copies = ({ additionalSecrets }: EffectiveConfig) =>
  additionalSecrets.map(({ origin, namespace, targetName }) => [origin.type, `${namespace}/${targetName}`]);
const specOf = (object: KubeObject | undefined) => object?.spec as Record<string, unknown>;
const secret = (data: Record<string, string>, type = 'Opaque'): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any' }, type },
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});
const docker = (content: string, more: Record<string, string> = {}) =>
  secret({ '.dockerconfigjson': content, ...more }, 'kubernetes.io/dockerconfigjson');
const authsOf = (...hosts: string[]) =>
  JSON.stringify({ auths: Object.fromEntries(hosts.map((host) => [host, { auth: 'cm9ib3Q6eA==' }])) });
const { cert } = loopbackCertificate();

describe('the Secrets of a project with flux-config', () => {
  it('change nothing while they do not exist', () => {
    const inputs = withFluxConfig(REPOSITORY);
    expect(effectiveConfig(project(inputs))).toEqual(effectiveConfig(inputs));
    expect(effectiveConfig(inputs).additionalSecrets).toEqual([]);
  });

  it('are copied into the namespace of each object that uses them', () => {
    const elsewhere = { metadata: { name: 'fleet', namespace: 'fleet' } };
    const inputs = inProject(ociRepository({}, elsewhere), kustomization({}, elsewhere));
    const config = effectiveConfig(project(inputs, 'flux-registry', 'flux-sops'));
    expect(copies(config).map(([, place]) => place)).toEqual([
      'flux-system/flux-registry',
      'fleet/flux-registry',
      'flux-system/flux-sops',
      'fleet/flux-sops',
    ]);
  });

  it('give way to a copy that the Shoot asks for under the same name', () => {
    const inputs = inProject(gitRepository(), undefined, {
      additionalSecretResources: [{ name: 'mine', targetName: 'flux-sops' }],
    });
    expect(copies(effectiveConfig(project(inputs, 'flux-sops')))).toEqual([['resource', 'flux-system/flux-sops']]);
  });

  it('are an error when they cannot be used', () => {
    const inputs: ConfigInputs = {
      ...withFluxConfig(REPOSITORY),
      projectSecrets: [{ name: 'flux-sops', namespace: 'garden-foo', problem: 'has no key; add one' }],
    };
    expect(problems(inputs)).toEqual(['Secret garden-foo/flux-sops has no key; add one']);
  });
});

describe('flux-registry', () => {
  it('is on the Deployments, unless the configuration names another Secret', () => {
    expect(effectiveConfig(project(withFluxConfig({}), 'flux-registry')).flux.imagePullSecret).toBe('flux-registry');
    const other = withFluxConfig({ imagePullSecret: 'mine' });
    expect(effectiveConfig(project(other, 'flux-registry')).flux.imagePullSecret).toBe('mine');
  });

  it.each<[string, object, boolean]>([
    ['without credentials', {}, true],
    ['with provider generic', { provider: 'generic' }, true],
    ['with a ServiceAccount', { serviceAccountName: 'puller' }, false],
    ['with the identity of a cloud', { provider: 'aws' }, false],
  ])('is the secretRef of an OCIRepository %s', (_, spec, expected) => {
    const config = effectiveConfig(project(inProject(ociRepository(spec)), 'flux-registry'));
    expect(specOf(config.source).secretRef).toEqual(expected ? { name: 'flux-registry' } : undefined);
    expect(config.sourceSecret).toBeUndefined();
  });

  it('leaves the credentials of an OCIRepository and other sources as they are', () => {
    const own = inProject({}, undefined, { source: { template: ociRepository(), secretResourceName: 'own' } });
    expect(specOf(effectiveConfig(project(own, 'flux-registry')).source).secretRef).toEqual({ name: 'flux-system' });
    const git = effectiveConfig(project(withFluxConfig(REPOSITORY), 'flux-registry'));
    expect(specOf(git.source)).not.toHaveProperty('secretRef');
  });
});

describe('flux-registry and other kinds that read from registries', () => {
  const ofRegistries = (addresses: string[]) => {
    return projectSecretOf('flux-registry', 'garden-foo', docker(authsOf(...addresses)));
  };
  const [registry, hub] = ['registry.example.com:5000', 'https://index.docker.io/v1/'];
  const wiredTo = (kind: string, spec: object, address: string) => {
    const object = { kind, metadata: { name: 'one' }, spec: { interval: '1h', ...spec } };
    const inputs: ConfigInputs = { ...withFluxConfig({}), ...withConfig({ objects: [object] }) };
    return specOf(effectiveConfig({ ...inputs, projectSecrets: [ofRegistries([address])] }).objects[0]).secretRef;
  };
  const charts = { type: 'oci', url: `oci://${registry}/charts` };
  const image = `${registry}/org/app`;

  it.each<[string, object, string, boolean]>([
    ['HelmRepository', charts, registry, true],
    ['HelmRepository', charts, `https://${registry}/charts`, true],
    ['HelmRepository', charts, 'other.example.com', false],
    ['HelmRepository', { url: `https://${registry}/charts` }, registry, false],
    ['ImageRepository', { image }, registry, true],
    ['ImageRepository', { image }, hub, false],
    ['ImageRepository', { image: 'org/app' }, hub, true],
    ['ImageRepository', { image: 'docker.io/org/app' }, hub, true],
    ['ImageRepository', { image: 'org/app' }, registry, false],
  ])('%s %j with credentials for %s: %s', (kind, spec, address, expected) => {
    expect(wiredTo(kind, spec, address)).toEqual(expected ? { name: 'flux-registry' } : undefined);
  });

  it('reads no registries from content that is too large to be used', () => {
    const large = ofRegistries(Array.from({ length: 20_000 }, (_, index) => `r${index}.example.com`));
    expect(large.problem).toMatch(/^is longer than 64 KiB; /);
    expect(large).not.toHaveProperty('hosts');
  });

  it('leaves them as they are while the registries are unknown', () => {
    const object = { kind: 'HelmRepository', metadata: { name: 'one' }, spec: { interval: '1h', ...charts } };
    const inputs = project({ ...withFluxConfig({}), ...withConfig({ objects: [object] }) }, 'flux-registry');
    expect(specOf(effectiveConfig(inputs).objects[0])).not.toHaveProperty('secretRef');
  });
});

describe('flux-registry with the certificate of an authority', () => {
  const own = 'registry.example.com';
  const withCertificate = (inputs: ConfigInputs, ...hosts: string[]): ConfigInputs => {
    const registry = docker(authsOf(own, ...hosts), { 'ca.crt': cert });
    return { ...inputs, projectSecrets: [projectSecretOf('flux-registry', 'garden-foo', registry)] };
  };
  const ca = { name: 'flux-registry-ca' };
  const listed = (kind: string, spec: object): ConfigInputs => {
    const object = { kind, metadata: { name: 'one', namespace: 'apps' }, spec: { interval: '1h', ...spec } };
    return { ...withFluxConfig({}), ...withConfig({ objects: [object] }) };
  };
  const charts = { type: 'oci', url: `oci://${own}/charts` };
  const image = { image: `${own}/org/app` };

  it.each<[string, object, object | undefined]>([
    ['without credentials', {}, ca],
    ['that names flux-registry itself', { secretRef: { name: 'flux-registry' } }, ca],
    ['with an authority of its own', { certSecretRef: { name: 'mine' } }, { name: 'mine' }],
    ['with a ServiceAccount', { serviceAccountName: 'puller' }, undefined],
    ['with the identity of a cloud', { provider: 'aws' }, undefined],
    ['that verifies nothing', { insecure: true }, undefined],
  ])('is trusted by an OCIRepository %s: %j', (_, spec, expected) => {
    const { source } = effectiveConfig(withCertificate(inProject(ociRepository(spec))));
    expect(specOf(source).certSecretRef).toEqual(expected);
    expect(specOf(effectiveConfig(project(inProject(ociRepository()), 'flux-registry')).source)).not.toHaveProperty(
      'certSecretRef',
    );
  });

  it.each<[string, object, string[], object | undefined]>([
    ['OCIRepository', { url: `oci://${own}/fleet`, ref: { tag: 'v1' } }, ['ghcr.io'], ca],
    ['HelmRepository', charts, ['ghcr.io'], ca],
    ['HelmRepository', { ...charts, secretRef: { name: 'mine' } }, [], undefined],
    ['HelmRepository', { url: `https://${own}/charts`, secretRef: { name: 'flux-registry' } }, [], undefined],
    ['ImageRepository', image, [], ca],
    // image-reflector-controller trusts this authority alone, so it must be that of the registry.
    ['ImageRepository', image, ['ghcr.io'], undefined],
    ['ImageRepository', { image: 'ghcr.io/org/app' }, ['ghcr.io'], undefined],
    ['ImageRepository', { image: 'ghcr.io/org/app', secretRef: { name: 'flux-registry' } }, [], undefined],
  ])('is trusted by a listed %s %j beside credentials for %j: %j', (kind, spec, hosts, expected) => {
    const config = effectiveConfig(withCertificate(listed(kind, spec), ...hosts));
    expect(specOf(config.objects[0]).certSecretRef).toEqual(expected);
  });

  it('is a copy of its own in each namespace that uses it, without a warning', () => {
    const config = effectiveConfig(withCertificate(listed('HelmRepository', charts)));
    expect(copies(config)).toEqual([
      ['project', 'flux-system/flux-registry'],
      ['project', 'apps/flux-registry'],
      ['project', 'flux-system/flux-registry-ca'],
      ['project', 'apps/flux-registry-ca'],
    ]);
    expect(config.warnings).toBeUndefined();
  });

  it('comes without a flux-config where the configuration names the credentials or the certificate', () => {
    const spec = { secretRef: { name: 'flux-registry' } };
    const config = effectiveConfig(withCertificate(withTemplates(ociRepository(spec))));
    expect(specOf(config.source).certSecretRef).toEqual(ca);
    expect(copies(config)).toEqual([
      ['project', 'flux-system/flux-registry'],
      ['project', 'flux-system/flux-registry-ca'],
    ]);
    const named = withTemplates(ociRepository({ certSecretRef: ca }));
    expect(neededProjectSecrets(named)).toEqual(['flux-registry']);
    expect(copies(effectiveConfig(withCertificate(named)))).toEqual([['project', 'flux-system/flux-registry-ca']]);
  });
});

describe('flux-sops', () => {
  it('is the decryption of the Kustomization', () => {
    const config = effectiveConfig(project(withFluxConfig(REPOSITORY), 'flux-sops'));
    const expected = { provider: 'sops', secretRef: { name: 'flux-sops' } };
    expect(specOf(config.kustomization).decryption).toEqual(expected);
  });

  it('leaves a Kustomization with its own decryption as it is', () => {
    const decryption = { provider: 'sops', secretRef: { name: 'mine' } };
    const config = effectiveConfig(project(inProject(gitRepository(), kustomization({ decryption })), 'flux-sops'));
    expect(specOf(config.kustomization).decryption).toEqual(decryption);
  });
});

describe('flux-variables', () => {
  const variables = { kind: 'Secret', name: 'flux-variables', optional: true };
  const facts = { kind: 'ConfigMap', name: 'shoot-facts', optional: true };
  const substituteFrom = (inputs: ConfigInputs) => {
    const config = effectiveConfig(project(inputs, 'flux-variables'));
    return (specOf(config.kustomization).postBuild as { substituteFrom: unknown }).substituteFrom;
  };

  it('come after the facts of the Shoot', () => {
    expect(substituteFrom(withFluxConfig(REPOSITORY))).toEqual([facts, variables]);
  });

  it('come before what the Kustomization names itself, which wins', () => {
    const own = { kind: 'Secret', name: 'own' };
    const ks = kustomization({ postBuild: { substitute: { a: 'b' }, substituteFrom: [own] } });
    expect(substituteFrom(inProject(gitRepository(), ks))).toEqual([variables, own]);
  });

  it('are not named twice', () => {
    const own = { kind: 'Secret', name: 'flux-variables' };
    const ks = kustomization({ postBuild: { substituteFrom: [own] } });
    expect(substituteFrom(inProject(gitRepository(), ks))).toEqual([own]);
  });

  it('come without the facts outside of the namespace of Flux, where these are not', () => {
    const ks = kustomization({}, { metadata: { namespace: 'fleet' } });
    expect(substituteFrom(inProject(gitRepository(), ks))).toEqual([variables]);
  });
});

describe('without a flux-config', () => {
  const decryption = { provider: 'sops', secretRef: { name: 'flux-sops' } };

  it('only the Secrets that the configuration names are looked for', () => {
    expect(neededProjectSecrets({})).toEqual([]);
    expect(neededProjectSecrets(withTemplates(gitRepository()))).toEqual([]);
    expect(neededProjectSecrets(withTemplates(gitRepository(), kustomization({ decryption })))).toEqual(['flux-sops']);
    expect(neededProjectSecrets({ landscape: { defaults: { flux: { imagePullSecret: 'flux-registry' } } } })).toEqual([
      'flux-registry',
    ]);
    expect(neededProjectSecrets(withFluxConfig({}))).toEqual(['flux-registry', 'flux-sops', 'flux-variables']);
  });

  it('they are copied where they are named, and wire themselves to nothing', () => {
    const fleet = { metadata: { namespace: 'fleet' } };
    const inputs = withTemplates(ociRepository(), kustomization({ decryption }, fleet));
    const config = effectiveConfig(project(inputs, 'flux-registry', 'flux-sops'));
    expect(copies(config)).toEqual([['project', 'fleet/flux-sops']]);
    expect(specOf(config.source)).not.toHaveProperty('secretRef');
    expect(config.flux).not.toHaveProperty('imagePullSecret');
  });

  it('the credentials of a source may be flux-registry, which must exist', () => {
    const inputs = withTemplates(ociRepository({ secretRef: { name: 'flux-registry' } }));
    expect(copies(effectiveConfig(project(inputs, 'flux-registry')))).toEqual([
      ['project', 'flux-system/flux-registry'],
    ]);
    expect(problems(project(inputs))).toEqual([
      'providerConfig: source.template.spec.secretRef.name is flux-registry, a Secret that the project does not have; create it beside the Shoot, or set secretResourceName',
    ]);
    expect(problems(inputs)).toEqual([]);
  });
});

describe('the content', () => {
  const recreate = 'recreate it with kubectl create secret docker-registry';
  const age = '# public key: age1x\nAGE-SECRET-KEY-1ABC\n';
  const pgp = (kind: string) => `-----BEGIN PGP ${kind} KEY BLOCK-----\n\nabc\n`;
  const noKey = 'has no key that decrypts; add a private key under a name that ends in .agekey (age) or .asc (PGP)';

  it.each<[ProjectSecretName, string, KubeObject]>([
    ['flux-registry', 'of a registry', docker('{"auths": {"ghcr.io": {"auth": "YTpi"}}}')],
    ['flux-registry', 'of a registry with a CA', docker('{"auths": {"a": {}}}', { 'ca.crt': `# ours\n${cert}` })],
    ['flux-sops', 'with an age key', secret({ 'age.agekey': age })],
    ['flux-sops', 'with a PGP key', secret({ 'key.asc': pgp('PRIVATE'), 'public.asc': pgp('PUBLIC') })],
    ['flux-sops', 'for a key service', secret({ 'sops.aws-kms': 'x' })],
    ['flux-variables', 'with variables', secret({ CLUSTER_REGION: 'a', _x1: 'b' })],
    ['flux-variables', 'that is empty', secret({})],
  ])('of %s %s can be used', (name, _, object) => {
    expect(projectSecretOf(name, '', object).problem).toBeUndefined();
  });

  /** The sentence -> the Secrets that get it. */
  const unusable: Record<string, [ProjectSecretName, ...KubeObject[]]> = {
    [`is not of type kubernetes.io/dockerconfigjson; ${recreate}`]: ['flux-registry', secret({})],
    [`has no .dockerconfigjson; ${recreate}`]: ['flux-registry', docker('')],
    [`has no registry under auths in .dockerconfigjson; ${recreate}`]: [
      'flux-registry',
      ...['x', '{"auths": {}}'].map((content) => docker(content)),
    ],
    'has a ca.crt that has no certificate in PEM form; write the certificate there as openssl x509 prints it': [
      'flux-registry',
      ...['', 'marked'].map((text) => docker(authsOf('a'), { 'ca.crt': text })),
    ],
    'has a ca.crt that is damaged; write the certificate there as openssl x509 prints it': [
      'flux-registry',
      docker(authsOf('a'), { 'ca.crt': cert.replace(/\n.{64}\n/, '\n') }),
    ],
    'has a ca.crt that is encoded in base64 twice; encode it once, or write it into stringData': [
      'flux-registry',
      docker(authsOf('a'), { 'ca.crt': Buffer.from(cert).toString('base64') }),
    ],
    [`is longer than 64 KiB; ${recreate}`]: ['flux-registry', docker(`{"auths": {"${'x'.repeat(50_000)}": {}}}`)],
    [noKey]: ['flux-sops', secret({ age }), secret({ 'key.asc': pgp('PUBLIC') })],
    'has a value in "age.agekey" that begins with a byte order mark; save it as UTF-8 without one': [
      'flux-sops',
      secret({ 'age.agekey': `\uFEFF# created\n${age}` }),
    ],
    'has a value in "age.agekey" that is encoded in base64 twice; encode it once, or write it into stringData': [
      'flux-sops',
      secret({ 'age.agekey': Buffer.from('AGE-SECRET-KEY-1').toString('base64') }),
    ],
    'has no line AGE-SECRET-KEY-… in "age.agekey"; add the private key as age-keygen prints it': [
      'flux-sops',
      ...['age1x', '\n'.repeat(700_000)].map((text) => secret({ 'age.agekey': text })),
    ],
    'has no armored PGP key in "a.asc"; add the key as gpg --export-secret-keys --armor prints it': [
      'flux-sops',
      secret({ 'a.asc': 'x', 'age.agekey': age }),
    ],
    'has the key "not-good", which is no name of a variable; use letters, digits and \'_\', not starting with a digit':
      ['flux-variables', secret({ good: 'a', 'not-good': 'b' })],
  };

  it.each(Object.entries(unusable))('%s', (problem, [name, ...secrets]) => {
    for (const one of secrets) expect(projectSecretOf(name, '', one).problem).toBe(problem);
  });
});
