import { generateKeyPairSync } from 'node:crypto';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { fluxConfigOf, runWith, shootOf } from './testing.ts';

const SSH = 'ssh://git@github.com/org/fleet';
const secret = (name: string, stringData: object, more: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData, ...more },
});
const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const age = secret('flux-sops', { 'age.agekey': 'AGE-SECRET-KEY-1MARKED' });
const documents = (...objects: object[]) => objects.map((object) => stringify(object)).join('---\n');
const git = {
  kind: 'GitRepository',
  spec: { url: 'https://github.com/org/fleet', ref: { branch: 'main' }, secretRef: { name: 'credentials' } },
};
const shoot = shootOf({
  resources: [
    { name: 'mine', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'my-credentials' } },
    { name: 'values', resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'my-values' } },
  ],
  extensions: [
    {
      type: 'shoot-flux',
      providerConfig: {
        source: { template: git, secretResourceName: 'mine' },
        kustomization: { template: { spec: { path: './', prune: true } } },
        additionalSecretResources: [{ name: 'values' }],
      },
    },
  ],
});

/** Runs a command with a file of Secrets; nothing that is marked may appear. */
async function run(command: 'validate' | 'render', inputs: { config?: object; shoot?: object }, secrets: string) {
  const { config, ...shoot } = inputs;
  const ran = await runWith(command, { ...(config && { 'flux-config': config }), ...shoot, secrets });
  expect(ran.out + ran.err).not.toContain('MARKED');
  return ran;
}

describe('--secrets', () => {
  it('wires the Secrets of the project, as in the landscape', async () => {
    const { code, out } = await run('render', { config: fluxConfigOf({}) }, documents(age));
    expect(code).toBe(0);
    expect(out).toContain('# Secret flux-system/flux-sops: a copy of the garden Secret flux-sops.');
    expect(out).toContain('      name: flux-sops');
  });

  it('accepts what is complete, in data and in a List', async () => {
    const data = { username: 'dQ==', password: Buffer.from('MARKED').toString('base64') };
    const config = fluxConfigOf({ repositoryType: 'private' });
    const list = { apiVersion: 'v1', kind: 'List', items: [age, secret('flux-source', {}, { data })] };
    expect(await run('validate', { config }, stringify(list))).toEqual({ code: 0, out: '', err: '' });
    const credentials = secret('my-credentials', { username: 'u', password: 'MARKED' });
    const values = { ...secret('my-values', {}), kind: 'ConfigMap' };
    expect(await run('validate', { shoot }, documents(credentials, values))).toEqual({ code: 0, out: '', err: '' });
  });

  it.each<[string, { config?: object; shoot?: object }, string, string]>([
    [
      'a Secret of the project that cannot be used',
      { config: fluxConfigOf({}) },
      documents(secret('flux-sops', { 'age.agekey': 'MARKED' })),
      'Secret garden-foo/flux-sops has no line AGE-SECRET-KEY-… in "age.agekey"; add the private key as age-keygen prints it',
    ],
    [
      'credentials that are not there',
      { config: fluxConfigOf({ repositoryType: 'private' }) },
      documents(age),
      'Secret flux-source is not in secrets; add it there, and create it in the project',
    ],
    [
      'an entry of spec.resources that is not there',
      { shoot },
      documents(secret('my-credentials', { username: 'u', password: 'MARKED' })),
      'ConfigMap my-values is not in secrets (spec.resources "values"); add it there, and create it in the project',
    ],
    [
      'a key that is not there',
      { shoot },
      documents(secret('my-credentials', { username: 'MARKED' }), { ...secret('my-values', {}), kind: 'ConfigMap' }),
      'providerConfig: source.template.spec.secretRef names Secret flux-system/credentials, which has no password; add the key to the original of the Secret',
    ],
    [
      'a key pair that is not generated, because the source is in config.yaml',
      {
        config: fluxConfigOf({
          repositoryUrl: '',
          repositoryBranch: '',
          'config.yaml': stringify({
            source: { template: { ...git, spec: { ...git.spec, url: SSH, secretRef: { name: 'flux-source' } } } },
            kustomization: { template: { spec: { path: './' } } },
          }),
        }),
      },
      documents(age),
      'Secret flux-source is not in secrets; add it there, and create it in the project',
    ],
    [
      'incomplete credentials of a GitHub App',
      { config: fluxConfigOf({ repositoryType: 'private', repositoryProvider: 'github' }) },
      documents(
        secret('flux-source', { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey: 'MARKED' }),
      ),
      'Secret flux-source: githubAppPrivateKey is not a private key in PEM form; add the whole file that GitHub has generated',
    ],
    [
      'a key of a GitHub App that is none',
      { config: fluxConfigOf({ repositoryType: 'private', repositoryProvider: 'github' }) },
      documents(secret('flux-source', { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey: pem })),
      'Secret flux-source: githubAppPrivateKey is no RSA key; add the whole file that GitHub has generated',
    ],
    [
      'a password with a line break',
      { config: fluxConfigOf({ repositoryType: 'private' }) },
      documents(secret('flux-source', { username: 'u', password: 'MARKED\n' })),
      "Secret flux-source: password ends with a line break, which Flux takes as a part of it; write it without one, for example with printf '%s' instead of echo",
    ],
    [
      'a line break in the original of a copy',
      { shoot },
      documents(secret('my-credentials', { username: 'u', password: 'MARKED\n' }), {
        ...{ ...secret('my-values', {}), kind: 'ConfigMap' },
      }),
      "Secret my-credentials: password ends with a line break, which Flux takes as a part of it; write it without one, for example with printf '%s' instead of echo",
    ],
    [
      'a key pair of a type that the host refuses',
      {
        config: fluxConfigOf({
          repositoryUrl: 'git@ssh.dev.azure.com:v3/org/project/fleet',
          repositoryType: 'private',
        }),
      },
      documents(secret('flux-source', { identity: pem })),
      'Secret flux-source: identity is a key of type ssh-ed25519, and Azure DevOps takes RSA keys only; replace it with an RSA key',
    ],
    [
      'a Secret that nothing copies',
      {
        config: fluxConfigOf({
          'config.yaml': stringify({
            kustomization: { patch: { spec: { kubeConfig: { secretRef: { name: 'remote' } } } } },
          }),
        }),
      },
      documents(age),
      'ConfigMap garden-foo/flux-config: config.yaml.kustomization.patch.spec.kubeConfig.secretRef names Secret "remote" in namespace flux-system, which is not copied there; copy it with additionalSecretResources, or list it in existingSecrets if it comes from elsewhere',
    ],
  ])('reports %s', async (_, inputs, secrets, sentence) => {
    const { code, out } = await run('validate', inputs, secrets);
    expect({ code, first: out.split('\n')[0] }).toEqual({ code: 1, first: sentence });
  });

  it.each([
    ['no key pair', age],
    ['no host keys beside a key of the user', secret('flux-source', { identity: pem })],
    ['no key beside host keys', secret('flux-source', { known_hosts: 'MARKED' })],
  ])('needs %s, because the garden adds what is missing', async (_, given) => {
    const config = fluxConfigOf({ repositoryUrl: SSH, repositoryType: 'private' });
    expect(await run('validate', { config }, documents(given))).toEqual({ code: 0, out: '', err: '' });
  });

  it.each([
    ['the ConfigMap', { config: fluxConfigOf({}) }],
    ['the Shoot', { shoot }],
  ])('refuses a Secret in another namespace than %s', async (_, inputs) => {
    const other = { ...age, metadata: { name: 'flux-sops', namespace: 'garden-fo' } };
    const { code, err } = await run('validate', inputs, documents(other));
    expect(code).toBe(1);
    expect(err).toBe(
      'shoot-flux validate: secrets: Secret flux-sops is in namespace garden-fo, and the project in garden-foo; correct the namespace, or remove it.\n',
    );
  });

  it('accepts a certificate alone, as the function that reports on the Secret does', async () => {
    const { cert } = loopbackCertificate();
    const config = fluxConfigOf({ repositoryType: 'private' });
    const given = documents(secret('flux-source', { 'ca.crt': cert }));
    expect(await run('validate', { config }, given)).toEqual({ code: 0, out: '', err: '' });
  });

  it('wires the certificate of a registry, and refuses one that is none', async () => {
    const registry = (ca: string) => {
      const config = JSON.stringify({ auths: { 'registry.example.com': { password: 'MARKED' } } });
      const type = 'kubernetes.io/dockerconfigjson';
      return documents(secret('flux-registry', { '.dockerconfigjson': config, 'ca.crt': ca }, { type }));
    };
    const spec = { url: 'oci://registry.example.com/fleet', ref: { tag: 'v1' } };
    const oci = {
      source: { template: { kind: 'OCIRepository', spec } },
      kustomization: { template: { spec: { path: './' } } },
    };
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'flux-config', namespace: 'garden-foo' },
    };
    const config = { ...configMap, data: { 'config.yaml': stringify(oci) } };
    const { code, out, err } = await run('render', { config }, registry(loopbackCertificate().cert));
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('# Secret flux-system/flux-registry-ca: a copy of the garden Secret flux-registry.');
    expect(out).toContain('  certSecretRef:\n    name: flux-registry-ca');
    expect((await run('validate', { config }, registry('MARKED'))).out).toContain(
      'Secret garden-foo/flux-registry has a ca.crt that has no certificate in PEM form; write the certificate there as openssl x509 prints it',
    );
  });

  it('accepts a GitHub App', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const githubAppPrivateKey = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const app = secret('flux-source', { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey });
    const config = fluxConfigOf({ repositoryType: 'private', repositoryProvider: 'github' });
    expect(await run('validate', { config }, documents(app))).toEqual({ code: 0, out: '', err: '' });
  });

  it.each([
    ['another kind', documents({ kind: 'Deployment', metadata: { name: 'MARKED' } }), 'something else than Secrets'],
    ['no name', documents({ kind: 'Secret', stringData: { a: 'MARKED' } }), 'something else than Secrets'],
    ['the same Secret twice', documents(age, age), 'holds Secret flux-sops twice; keep one of them.'],
    ['a number', documents(secret('a', { pin: 4711 })), 'Secret a: stringData has a value that is no text; quote it.'],
  ])('refuses a file with %s', async (_, secrets, sentence) => {
    const { code, err } = await run('validate', { config: fluxConfigOf({}) }, secrets);
    expect(code).not.toBe(0);
    expect(err).toContain(sentence);
  });
});
