import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { SeenRequest } from '../../../shared/kube/testing.ts';
import { sendJson, statusBody } from '../../../shared/kube/testing.ts';

const MIB = 1_048_576;

/** What one tenant writes into its project, its Shoot and the answers of its shoot. */
export interface HostileInput {
  name: string;
  /** Keys of the ConfigMap `flux-config`, beside a good repository. */
  fluxConfig?: Record<string, string>;
  /** Content of the Secret `flux-source` in the garden. */
  fluxSource?: Record<string, string>;
  providerConfig?: unknown;
  /** Secrets of the Shoot that gardenlet has copied to the control plane, by name. */
  secrets?: Record<string, Record<string, string>>;
  /** Answers of the shoot's API server; absent: nothing listens there. */
  shoot?: (request: SeenRequest, response: ServerResponse) => void;
  /** Message of a ManagedResource that cannot be applied: the resource-manager passes on what the shoot says. */
  message?: string;
}

const apiVersion = 'flux.extensions.gardener.cloud/v1alpha1';
const providerConfig = (fields: object) => ({ apiVersion, kind: 'FluxConfig', ...fields });
const names = (count: number) => Array.from({ length: count }, (_, index) => `component-${index}`);
const keyPem = (label: string, der: Buffer) =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;
const rsa = () =>
  generateKeyPairSync('rsa', { modulusLength: 4096 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const nested = (depth: number): unknown => {
  let value: unknown = {};
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
};
const failing = (message: string) => (_: SeenRequest, response: ServerResponse) =>
  sendJson(response, 403, statusBody(403, 'Forbidden', message));

/** DER of a PKCS#8 key of the type DSA whose prime has so many bytes. */
function dsaKey(bytes: number): Buffer {
  const part = (tag: number, content: Buffer) => {
    const { length } = content;
    const size = Buffer.from(length.toString(16).padStart(6, '0'), 'hex');
    return Buffer.concat([Buffer.from([tag, 0x83]), size, content]);
  };
  const integer = (length: number) => part(2, Buffer.concat([Buffer.from([0]), Buffer.alloc(length, 0xff)]));
  const algorithm = part(
    48,
    Buffer.concat([
      part(6, Buffer.from('2a8648ce380401', 'hex')),
      part(48, Buffer.concat([integer(bytes), integer(32), integer(1)])),
    ]),
  );
  return part(48, Buffer.concat([integer(0), algorithm, part(4, integer(3))]));
}

const privateRepository = {
  repositoryUrl: 'ssh://git@git.example.org/fleet',
  repositoryType: 'private',
};

const patches = (target: object, list: unknown[], more: object = {}) =>
  providerConfig({ flux: { patches: list.map((patch) => ({ target, patch: textOf(patch) })), ...more } });
const textOf = (patch: unknown) => (typeof patch === 'string' ? patch : JSON.stringify(patch));
/** With as few characters as YAML needs, of which the configuration may have few. */
const labels = (count: number) => '- {op: add, path: /metadata/labels/a, value: x}\n'.repeat(count);
const sharding = { sharding: { shards: names(16).map((name) => name.replace('component', 's')) } };
const manager = (fields: object) => ({
  ...{ kind: 'Deployment', metadata: { name: 'any' } },
  spec: { template: { spec: { containers: [{ name: 'manager', ...fields }] } } },
});
const listed = (kind: string, name: string, spec: object) => ({ kind, metadata: { name }, spec });
const readsArtifact = (name: string, artifact: string) => {
  const sourceRef = { kind: 'ExternalArtifact', name: artifact };
  return listed('Kustomization', name, { interval: '1h', path: './', prune: true, sourceRef });
};
const repository = (name: string, fields: object = {}) =>
  listed('GitRepository', name, { url: 'https://example.org/fleet', interval: '1h', ...fields });
const generator = (artifacts: string[]) =>
  listed('ArtifactGenerator', 'g', { sources: [], artifacts: artifacts.map((name) => ({ name, copy: [] })) });
const variables = (count: number) => names(count).map((name) => ({ name, value: '' }));

/** One input for each place that a tenant can write to or answer from, as large as API servers accept it. */
export const hostileInputs: readonly HostileInput[] = [
  { name: '30,000 components', fluxConfig: { components: names(30_000).join(',') } },
  { name: 'config.yaml, 1,000,000 open brackets', fluxConfig: { 'config.yaml': '['.repeat(1_000_000) } },
  {
    name: 'config.yaml, aliases of aliases',
    fluxConfig: {
      'config.yaml': Array.from({ length: 24 }, (_, level) =>
        level === 0 ? 'a0: &a0 [x,x,x,x,x,x,x,x]' : `a${level}: &a${level} [${`*a${level - 1},`.repeat(8)}]`,
      ).join('\n'),
    },
  },
  {
    name: 'overrides.yaml, 1 MB of rules',
    fluxConfig: { 'overrides.yaml': '- shoots: [a]\n  config: {}\n'.repeat(35_000) },
  },
  {
    name: '1,300 JSON operations on every CustomResourceDefinition',
    providerConfig: patches({ kind: 'CustomResourceDefinition' }, Array(4).fill(labels(325))),
  },
  {
    name: 'patches with 750 variables for every Deployment of 16 shards',
    providerConfig: patches({ kind: 'Deployment' }, Array(3).fill(manager({ env: variables(250) })), sharding),
  },
  {
    name: 'a patch with 660 labels for every object',
    providerConfig: patches({}, [
      { kind: 'any', metadata: { name: 'any', labels: Object.fromEntries(names(660).map((name) => [name, ''])) } },
    ]),
  },
  {
    name: 'a patch with aliases and copies that adds 90,000 values',
    providerConfig: patches({ kind: 'Deployment' }, [
      `
- { op: add, path: /spec/a, value: &a [${'{},'.repeat(250)}] }
- { op: add, path: /spec/b, value: &b [${'*a,'.repeat(18)}] }
- { op: add, path: /spec/c, value: *b }
${['d', 'e', 'f'].map((name) => `- { op: copy, from: /spec/b, path: /spec/${name} }`).join('\n')}
`,
    ]),
  },
  {
    name: 'objects, two names of 60 KB that are almost the same',
    providerConfig: providerConfig({
      objects: [generator(['x'.repeat(60_000)]), readsArtifact('a', `${'x'.repeat(59_999)}y`)],
    }),
  },
  {
    name: 'objects, 1,200 names that are almost those of 50 references',
    providerConfig: providerConfig({
      objects: [
        generator(names(1200).map((name) => `${'x'.repeat(45)}-${name}`)),
        ...names(50).map((name) => readsArtifact(name, `${'x'.repeat(44)}-${name}-y`)),
      ],
    }),
  },
  {
    name: 'objects, 99 with 40 misspelt fields each',
    providerConfig: providerConfig({
      objects: names(99).map((name) =>
        repository(name, Object.fromEntries(names(40).map((field) => [`recurseSubmodule${field}`, true]))),
      ),
    }),
  },
  {
    name: 'an Alert for 1,200 objects of other repositories',
    providerConfig: providerConfig({
      objects: [
        listed('Provider', 'p', { type: 'slack' }),
        listed('Alert', 'a', {
          providerRef: { name: 'p' },
          eventSources: names(1200).map((name) => ({ kind: 'GitRepository', name: `${'a'.repeat(40)}-${name}-b` })),
        }),
        ...names(90).map((name) => repository(`${'a'.repeat(40)}-${name}-cccccc`)),
      ],
    }),
  },
  {
    name: 'a Secret with 50,000 keys that 1,000 entries of valuesFrom name',
    providerConfig: providerConfig({
      additionalSecretResources: [{ name: 'keys', targetName: 'keys' }],
      objects: [
        listed('HelmRepository', 'r', { url: 'https://charts.example.org', interval: '1h' }),
        listed('HelmRelease', 'a', {
          interval: '1h',
          chart: { spec: { chart: 'a', sourceRef: { kind: 'HelmRepository', name: 'r' } } },
          valuesFrom: Array(1000).fill({ kind: 'Secret', name: 'keys', valuesKey: 'missing' }),
        }),
      ],
    }),
    secrets: { 'ref-keys': Object.fromEntries(names(50_000).map((name) => [name, ''])) },
  },
  {
    name: '70 overrides that all select the Shoot, each with a source and a Kustomization',
    fluxConfig: {
      'overrides.yaml': names(70)
        .map((name) => {
          const template = { kind: 'GitRepository', spec: { url: `https://example.org/${name}` } };
          const config = { source: { template }, kustomization: { template: { spec: { path: `./${name}` } } } };
          return `- ${JSON.stringify({ selector: {}, config })}\n`;
        })
        .join(''),
    },
  },
  {
    name: 'commonMetadata of 112 KB for all objects of 16 shards',
    providerConfig: providerConfig({
      flux: {
        ...sharding,
        commonMetadata: { annotations: Object.fromEntries(names(28).map((name) => [name, 'x'.repeat(4000)])) },
      },
    }),
  },
  { name: 'a repository URL of 900 KB', fluxConfig: { repositoryUrl: `https://example.org/${'a'.repeat(900_000)}` } },
  { name: 'a version range of 300,000 alternatives', fluxConfig: { fluxVersion: '1||'.repeat(300_000) } },
  {
    name: 'a known_hosts pattern of 900 KB',
    fluxConfig: { ...privateRepository, knownHosts: `${'*a'.repeat(450_000)}b ssh-ed25519 AAAA` },
  },
  {
    name: 'a DSA key with a prime of 22 KB',
    fluxConfig: privateRepository,
    fluxSource: { identity: keyPem('PRIVATE KEY', dsaKey(22_000)) },
  },
  {
    name: 'an RSA key followed by 900 KB',
    fluxConfig: privateRepository,
    fluxSource: { identity: `${rsa()}${'A'.repeat(900_000)}` },
  },
  {
    name: 'a providerConfig with 40,000 unknown keys',
    providerConfig: providerConfig(Object.fromEntries(names(40_000).map((name) => [name, 1]))),
  },
  {
    name: 'a providerConfig 900 levels deep',
    providerConfig: providerConfig({ source: { template: nested(900) } }),
  },
  {
    name: 'a template with 50,000 fields',
    providerConfig: providerConfig({
      source: {
        template: {
          apiVersion: 'source.toolkit.fluxcd.io/v1',
          kind: 'GitRepository',
          spec: {
            url: 'https://example.org/fleet',
            ...Object.fromEntries(names(50_000).map((name) => [name, 'x'])),
          },
        },
      },
    }),
  },
  {
    name: '300 copies of a Secret of 1 MB',
    providerConfig: providerConfig({
      additionalSecretResources: names(300).map((targetName) => ({ name: 'large', targetName })),
    }),
    secrets: { 'ref-large': { blob: 'x'.repeat(MIB - 10_000) } },
  },
  {
    name: 'line separators and lone surrogates',
    providerConfig: providerConfig({
      kustomization: {
        template: { spec: { postBuild: { substitute: { a: '\u2028\u2029\ud800\u0085\ufeff'.repeat(20_000) } } } },
      },
    }),
  },
  {
    name: 'a shoot that streams without end',
    shoot: (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const chunk = Buffer.alloc(65_536, 32);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    },
  },
  { name: 'a shoot with messages of 1 MB', shoot: failing('"x" is forbidden: '.repeat(58_000)) },
  {
    name: 'a shoot that answers with 1,000,000 brackets',
    shoot: (_, response) => void response.writeHead(200).end('['.repeat(1_000_000)),
  },
  {
    name: 'a shoot whose lists have 50,000 odd objects',
    shoot: (_, response) =>
      sendJson(response, 200, {
        metadata: { resourceVersion: '1', continue: 'more' },
        items: Array.from({ length: 50_000 }, () => null),
      }),
  },
  { name: 'a shoot that never answers', shoot: () => {} },
  {
    name: 'a shoot with a status of the wrong shape',
    shoot: (_, response) =>
      sendJson(response, 200, {
        metadata: { name: 1, generation: 'x' },
        status: { conditions: { a: 1 }, observedGeneration: [] },
        items: [{ metadata: {}, status: 'x' }, 5, 'x', { status: { conditions: [null, 1, 'x'] } }],
      }),
  },
  {
    name: 'a ManagedResource with a message of 30,000 characters',
    message: 'x: "y" denied the request: '.repeat(1_100),
  },
];
