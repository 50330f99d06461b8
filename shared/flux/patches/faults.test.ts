import { describe, expect, it, test } from 'vitest';
import { stringify } from 'yaml';
import type { FluxInstall, Patch } from '../../config/types.ts';
import { ConfigError } from '../../errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { customise } from '../customise.ts';
import { withController, withPod } from '../deployment.ts';
import { installObjects } from '../install.ts';
import { fluxInstall, standInRelease } from '../testing.ts';
import { faultsOf } from './faults.ts';

const standIn = await standInRelease();
const release = { ...standIn, files: new Map([...standIn.files, ['source-watcher', []]]) };
const origins = { 'flux.patches': { object: 'providerConfig', path: 'flux.patches' } };

/** Returns a Deployment with what those of real releases have besides. */
function filled(object: KubeObject): KubeObject {
  if (object.kind !== 'Deployment') return object;
  const mounted = withController(object, (container) => ({
    ...container,
    resources: { limits: { cpu: '1000m', memory: '1Gi' }, requests: { cpu: '50m', memory: '64Mi' } },
    volumeMounts: ['data', 'tmp'].map((name) => ({ name, mountPath: `/${name}` })),
  }));
  const volumes = ['data', 'tmp'].map((name) => ({ name, emptyDir: {} }));
  return withPod(mounted, (spec) => ({ ...spec, volumes }));
}

/** Returns the sentences about patches, without the object. */
function problems(patches: Patch[], changes: Partial<FluxInstall> = {}): string[] {
  const install = fluxInstall({ ...changes, patches });
  try {
    customise(installObjects(release, install).map(filled), {
      install,
      version: release.version,
      origins,
    });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.issues.map(({ path, message }) => `${path} ${message}`.replace('flux.patches', ''));
  }
}

type Target = NonNullable<Patch['target']>;
const kustomize: Target = { kind: 'Deployment', name: 'kustomize-controller' };
const source: Target = { kind: 'Deployment', name: 'source-controller' };
const any = { kind: 'any', metadata: { name: 'any' } };
const merge = (fields: object, target = kustomize): Patch => ({ target, patch: stringify({ ...any, ...fields }) });
const pod = (spec: object, target = kustomize) => merge({ spec: { template: { spec } } }, target);
const manager = (fields: object, target = kustomize) => pod({ containers: [{ name: 'manager', ...fields }] }, target);
const POD = '/spec/template/spec';
const operation = (op: string, path: string, value?: unknown, target = kustomize): Patch => ({
  target,
  patch: JSON.stringify([{ op, path, ...(value !== undefined && { value }) }]),
});
const args = `${POD}/containers/0/args`;

describe('a patch may not remove what options of the same configuration wrote:', () => {
  const needs = (what: string, of = 'Deployment kustomize-controller') =>
    `[0] removes ${what} from ${of}, which Flux or an option of this configuration needs; `;
  const add = (list: string, option = '') =>
    `keep what is there, and add your own with op: add, path: ${POD}/${list}${option}`;
  const option = (name: string) => `, or change ${name}`;

  it.each<[string, Partial<FluxInstall>, Patch, RegExp | string]>([
    [
      'flags of multi-tenancy',
      { multiTenancy: true },
      manager({ args: ['--concurrent=3'] }),
      /removes .*--no-cross-namespace-refs=true.*--no-remote-bases=true.* keep what is there, and add your own with op: add, path: \/spec\/template\/spec\/containers\/0\/args\/-$/,
    ],
    [
      'a flag of multi-tenancy, by another value behind it',
      { multiTenancy: true },
      operation('add', `${args}/-`, '--no-cross-namespace-refs=false'),
      `${needs('--no-cross-namespace-refs=true')}keep its value, or set multiTenancy to false`,
    ],
    [
      'the account of tenants, by another one',
      { multiTenancy: true },
      operation('add', `${args}/-`, '--default-service-account=cluster-admin'),
      `${needs('--default-service-account=default')}keep its value, or change tenantDefaultServiceAccount`,
    ],
    [
      'the account for keys, by another one',
      { multiTenancy: true, objectLevelWorkloadIdentity: true },
      operation('add', `${args}/-`, '--default-decryption-service-account=admin'),
      `${needs('--default-decryption-service-account=default')}keep its value, or change tenantDefaultDecryptionServiceAccount`,
    ],
    ['the address of events', {}, manager({ args: ['--concurrent=3'] }), /removes --events-addr from/],
    [
      'the address of artifacts',
      {},
      manager({ args: ['--concurrent=3'] }, source),
      /--events-addr, --storage-path=\/data, and --storage-adv-addr from/,
    ],
    [
      'the namespaces to watch',
      { watchAllNamespaces: false },
      manager({ args: ['--concurrent=3'] }, { kind: 'Deployment', name: 'notification-controller' }),
      /removes --watch-all-namespaces=false from/,
    ],
    ['all flags', {}, operation('remove', args), /removes --events-addr/],
    ['all flags by null', {}, manager({ args: null }), /removes --events-addr/],
    ['one flag for another', {}, operation('replace', `${args}/0`, '--concurrent=3'), /removes --events-addr from/],
    [
      'the level of logs',
      { logLevel: 'debug' },
      manager({ args: ['--events-addr='] }),
      /removes --log-level=debug from/,
    ],
    [
      'variables',
      { proxy: { https: 'http://proxy:3128' } },
      operation('replace', `${POD}/containers/0/env`, []),
      /the variable HTTPS_PROXY.*containers\/0\/env\/-/,
    ],
    [
      'one variable',
      { proxy: { https: 'http://proxy:3128' } },
      manager({ env: [{ name: 'NO_PROXY', $patch: 'delete' }] }),
      `${needs('the variable NO_PROXY')}${add('containers/0/env/-')}`,
    ],
    [
      'tolerations',
      { tolerationKeys: ['infra', 'Dedicated'] },
      pod({ tolerations: [{ key: 'x', operator: 'Exists' }] }),
      `${needs('the toleration of infra and the toleration of Dedicated')}${add('tolerations/-', option('tolerationKeys'))}`,
    ],
    [
      'a node selector',
      { nodeSelector: { pool: 'a' } },
      pod({ nodeSelector: { $patch: 'replace', zone: 'b' } }),
      `${needs('the nodeSelector pool')}${add('nodeSelector/KEY', option('nodeSelector'))}`,
    ],
    [
      'a pull secret',
      { imagePullSecret: 'pull' },
      operation('replace', `${POD}/imagePullSecrets`, [{ name: 'own' }]),
      `${needs('the pull secret pull')}${add('imagePullSecrets/-')}`,
    ],
    [
      'the pull secret of the landscape',
      { landscapePullSecret: 'all' },
      operation('remove', `${POD}/imagePullSecrets`),
      /the pull secret all/,
    ],
    [
      'a priority',
      { priorityClass: 'high' },
      pod({ priorityClassName: null }),
      /removes priorityClassName from .* omit priorityClass$/,
    ],
    [
      'a claim',
      { storage: { size: '1Gi' } },
      operation(
        'replace',
        `${POD}/volumes`,
        [
          { name: 'data', emptyDir: {} },
          { name: 'tmp', emptyDir: {} },
        ],
        source,
      ),
      /removes the volume with a PersistentVolumeClaim .* or change storage$/,
    ],
    [
      'the controller',
      {},
      pod({ containers: [{ $patch: 'replace' }, { name: 'other', image: 'x' }] }),
      /removes the container manager.*containers\/-$/,
    ],
    [
      'the label of a Service',
      {},
      merge({ spec: { template: { metadata: { labels: { app: 'other' } } } } }),
      /removes the label app of its Pods/,
    ],
    [
      'labels of all objects',
      { commonMetadata: { labels: { team: 'a' } } },
      operation('remove', '/metadata/labels/team'),
      /removes label team .* or change commonMetadata$/,
    ],
    [
      'a mount',
      {},
      manager({ volumeMounts: [{ mountPath: '/tmp', $patch: 'delete' }] }),
      `${needs('the mount at /tmp')}${add('containers/0/volumeMounts/-')}`,
    ],
    [
      'the port of a Service',
      {},
      operation('replace', '/spec/ports', [{ name: 'other', port: 81, protocol: 'TCP' }], {
        kind: 'Service',
        name: 'source-controller',
      }),
      /removes the port http from Service/,
    ],
    [
      'all flags, behind the end of flags',
      { multiTenancy: true },
      operation('add', `${args}/0`, '--'),
      /removes --events-addr, --no-cross-namespace-refs=true,.* from/,
    ],
    [
      'a feature gate',
      { components: ['source-controller', 'kustomize-controller', 'source-watcher'] },
      manager({ args: ['--events-addr=', '--feature-gates=A=true,B=true'] }),
      /removes --feature-gates=ExternalArtifact=true from/,
    ],
    [
      'the class of a claim',
      { storage: { size: '1Gi', class: 'fast' } },
      merge({ spec: { storageClassName: null } }, { kind: 'PersistentVolumeClaim' }),
      /removes the class of the claim from Persistent.*; keep that, or change storage.class$/,
    ],
    [
      'the size of a claim',
      { storage: { size: '1Gi' } },
      operation('remove', '/spec/resources', undefined, { kind: 'PersistentVolumeClaim' }),
      /removes the size of the claim from .*; keep that, or change storage.size$/,
    ],
    [
      'the ServiceAccount',
      {},
      merge({ spec: { template: { spec: { $patch: 'replace', containers: [{ name: 'manager', image: 'a' }] } } } }),
      /removes the ServiceAccount of Deployment kustomize-controller, without which it may do nothing; change only/,
    ],
  ])('%s', (_what, options, patch, expected) => {
    const found = problems([patch], options);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(expected);
  });

  it.each<[string, Partial<FluxInstall>, Patch[]]>([
    [
      'a gate together with another one',
      { components: ['source-controller', 'kustomize-controller', 'source-watcher'] },
      [manager({ args: ['--events-addr=', '--feature-gates=A=true,ExternalArtifact=true'] })],
    ],
    [
      'another size of a claim',
      { storage: { size: '1Gi' } },
      [merge({ spec: { resources: { requests: { storage: '2Gi' } } } }, { kind: 'PersistentVolumeClaim' })],
    ],
    ['another flag', { multiTenancy: true }, [operation('add', `${args}/-`, '--concurrent=3')]],
    ['another value of a flag', { size: 'large' }, [operation('add', `${args}/-`, '--concurrent=3')]],
    ['another address', {}, [operation('replace', `${args}/0`, '--events-addr=http://example.com')]],
    [
      'flags that are written again',
      {},
      [manager({ args: ['--events-addr=', '--log-level=debug', '--storage-path=/data'] })],
    ],
    [
      'what a later patch adds again',
      {},
      [operation('remove', `${args}/0`), operation('add', `${args}/-`, '--events-addr=')],
    ],
    ['a flag for its default', {}, [operation('remove', `${args}/1`)]],
    [
      'replicas and resources',
      { size: 'small' },
      [merge({ spec: { replicas: 2 } }), manager({ resources: { limits: { cpu: null } } })],
    ],
    ['no replicas', {}, [merge({ spec: { replicas: 0 } })]],
    ['another value of a node selector', { nodeSelector: { pool: 'a' } }, [pod({ nodeSelector: { pool: 'b' } })]],
    ['tolerations without an option', {}, [pod({ tolerations: [{ key: 'Dedicated', operator: 'Exists' }] })]],
    ['a toleration of everything', { tolerationKeys: ['a'] }, [pod({ tolerations: [{ operator: 'Exists' }] })]],
    ['an image', { registry: 'example.com/fluxcd' }, [manager({ image: 'example.com/other:1' })]],
    [
      'an annotation for IRSA',
      {},
      [
        operation(
          'add',
          '/metadata/annotations',
          { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/flux' },
          { kind: 'ServiceAccount', name: 'source-controller' },
        ),
      ],
    ],
    ['the limits of Go', {}, [manager({ env: [{ name: 'GOMEMLIMIT', $patch: 'delete' }] }, source)]],
    ['a priority of the release', {}, [pod({ priorityClassName: null })]],
    ['a sidecar', {}, [pod({ containers: [{ name: 'sidecar', image: 'x', args: ['a'] }] })]],
    ['probes', {}, [manager({ livenessProbe: null })]],
    [
      'another volume for the artifacts',
      {},
      [
        pod({ volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'disk' } }] }, source),
        manager({ volumeMounts: [{ name: 'disk', mountPath: '/data' }] }, source),
      ],
    ],
    ['all NetworkPolicies', {}, [merge({ $patch: 'delete' }, { kind: 'NetworkPolicy' })]],
  ])('but allowed is: %s', (_what, options, patches) => {
    expect(problems(patches, options)).toEqual([]);
  });

  test('the patch that removes it is named, and all of them at once', () => {
    const first = operation('add', `${args}/-`, '--concurrent=3');
    const flux = (kind: string) => merge({}, { kind, name: 'flux-system' });
    const sidecar = pod({ containers: [{ name: 'a', image: 'x' }] });
    expect(problems([first, flux('GitRepository'), sidecar, manager({ args: [] }), flux('Kustomization')])).toEqual([
      '[1] has target { kind: GitRepository, name: flux-system }, which selects no installed object, because patches change only the installation of Flux; write its fields in source.template.spec',
      '[4] has target { kind: Kustomization, name: flux-system }, which selects no installed object, because patches change only the installation of Flux; write its fields in kustomization.template.spec (or kustomization.patch.spec, to keep the rest)',
      expect.stringMatching(/^\[3\] removes --events-addr/),
    ]);
  });

  test('what a patch takes from several objects is one sentence, with the place in the list that an earlier patch moved', () => {
    const target = { kind: 'Deployment', name: '(kustomize|helm)-controller' };
    const patches = [pod({ containers: [{ name: 'a', image: 'x' }] }, target), manager({ args: [] }, target)];
    expect(problems(patches)).toEqual([
      `[1] removes --events-addr from Deployment kustomize-controller and 1 other object, which Flux or an option of this configuration needs; keep what is there, and add your own with op: add, path: ${POD}/containers/1/args/-`,
    ]);
  });

  const [sources, roots] = ['in source.template.spec', 'in kustomization.template.spec (or kustomization.patch.spec,'];
  it.each([
    [{ kind: '(GitRepository|Kustomization)' }, `${sources} or ${roots}`],
    [{ kind: 'Git.*' }, sources],
    [{ kind: 'gitrepository' }, sources],
    [{ kind: 'Kustomisation' }, roots],
    [{ group: 'kustomize.toolkit.fluxcd.io' }, roots],
    [{ kind: 'HelmRelease' }, 'in the spec of its entry of objects'],
  ])('a target %j is an object for Flux', (target, place) => {
    expect(problems([merge({}, target)])[0]).toContain(`installation of Flux; write its fields ${place}`);
  });

  test('a pattern that is also for installed kinds, with a wrong name, does not lead to objects for Flux', () => {
    expect(problems([merge({}, { kind: '.*ion', name: 'none' })])[0]).not.toContain('write its fields');
  });

  test('the NetworkPolicy that lets the controllers reach each other', () => {
    const policy = (name: string, ingress: object[]): KubeObject => ({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name, namespace: 'flux-system' },
      spec: { podSelector: {}, policyTypes: ['Ingress'], ingress },
    });
    const policies = [
      policy('allow-egress', [{ from: [{ podSelector: {} }] }]),
      policy('allow-scraping', [{ from: [{ namespaceSelector: {} }], ports: [{ port: 8080 }] }]),
    ];
    const deleting = (origin: object, ...deleted: string[]) => {
      const kept = (names: string[]) => policies.filter(({ metadata }) => !names.includes(metadata.name));
      const stages = [policies, ...deleted.map((_, index) => kept(deleted.slice(0, index + 1)))];
      return faultsOf(stages, { install: fluxInstall(), version: '', origins: { ...origins, ...origin } });
    };
    const asked = { 'flux.networkPolicy': { object: 'providerConfig', path: 'flux.networkPolicy' } };
    expect(deleting({}, 'allow-egress')).toEqual([
      {
        patch: 0,
        message:
          'deletes NetworkPolicy allow-egress, without which allow-scraping cuts the controllers off from each other; delete all with target { kind: NetworkPolicy }, or set networkPolicy to false',
      },
    ]);
    const [open, ...others] = policies;
    const narrowed = { ...open, spec: { ...(open?.spec as object), ingress: [] } } as KubeObject;
    const stages = [policies, [narrowed, ...others]];
    expect(faultsOf(stages, { install: fluxInstall(), version: '', origins })).toEqual([]);
    expect(deleting(asked)).toEqual([]);
    expect(deleting(asked, 'allow-scraping')).toEqual([]);
    expect(deleting({}, 'allow-egress', 'allow-scraping')).toEqual([]);
    expect(deleting(asked, 'allow-egress', 'allow-scraping')).toEqual([
      {
        patch: 1,
        message: 'deletes every NetworkPolicy, for which networkPolicy asks; set networkPolicy to false instead',
      },
    ]);
  });
});

describe('a patch may not write', () => {
  const quantity = (name: string, value: unknown) => manager({ resources: { limits: { [name]: value } } });
  const at = (path: string, value: unknown) => operation('add', path, value);

  it.each<[string, Patch, string]>([
    ['negative replicas', merge({ spec: { replicas: -1 } }), 'spec.replicas -1 is too small; use at least 0'],
    ['replicas in quotes', merge({ spec: { replicas: '2' } }), 'spec.replicas must be an integer, not a string'],
    [
      'a misspelt field',
      manager({ resource: {} }),
      'spec.template.spec.containers[0].resource is not a known key; did you mean resources?',
    ],
    [
      'limits at the wrong place',
      manager({ limits: { cpu: 1 } }),
      'spec.template.spec.containers[0].limits belongs to spec.template.spec.containers[0].resources.limits; move it there',
    ],
    [
      'a field of the Deployment in the Pod',
      pod({ replicas: 2 }),
      'spec.template.spec.replicas belongs to spec.replicas; move it there',
    ],
    [
      'a field of the Pod in the Deployment',
      merge({ spec: { tolerations: [] } }),
      'spec.tolerations belongs to spec.template.spec.tolerations; move it there',
    ],
    [
      'storage of a container',
      quantity('storage', '1Gi'),
      '"storage" is not a resource of containers; use cpu, memory or ephemeral-storage',
    ],
    [
      'a wrong quantity',
      quantity('memory', '1GB'),
      'limits.memory "1GB" is not a quantity; use a form like 500m, 512Mi or 2Gi',
    ],
    ['a negative quantity', quantity('cpu', '-1'), '"-1" is negative'],
    [
      'a request above its limit',
      manager({ resources: { requests: { memory: '64Gi' } } }),
      'has a request of 64Gi memory, above the limit of',
    ],
    ['a wrong label', at('/spec/template/metadata/labels/a b', 'c'), '"a b" is not a valid label or annotation key'],
    ['a wrong label of an object', at('/metadata/labels/a b', 'c'), '"a b" is not a valid label or annotation key'],
    [
      'a wrong value of a label',
      at('/spec/template/metadata/labels/team', 'a b'),
      'labels.team "a b" is not a valid label value',
    ],
    [
      'an annotation that is no text',
      merge({ spec: { template: { metadata: { annotations: { a: true } } } } }),
      'annotations.a must be a string, not a boolean',
    ],
    ['a node selector that is no text', pod({ nodeSelector: { gpu: true } }), 'nodeSelector.gpu must be a string'],
    [
      'a duration for an integer',
      pod({ terminationGracePeriodSeconds: '30s' }),
      'terminationGracePeriodSeconds must be an integer',
    ],
    [
      'a flag without a unit',
      at(`${args}/-`, '--requeue-dependency=5'),
      '"--requeue-dependency=5" has no duration; use units, for example --requeue-dependency=30s',
    ],
    ['a flag without a number', at(`${args}/-`, '--concurrent=many'), '"--concurrent=many" has no integer'],
    ['an argument that is a number', at(`${args}/-`, 3), 'must be a string'],
    [
      'a variable that is a number',
      manager({ env: [{ name: 'A', value: 1 }] }),
      'must be a string, not a number; put it in quotes',
    ],
    [
      'two kinds of volume',
      pod({ volumes: [{ name: 'tmp', emptyDir: {}, secret: {} }] }),
      'has both emptyDir and secret',
    ],
    [
      'a wrong name of a volume',
      pod({ volumes: [{ name: 'My_Volume', emptyDir: {} }] }),
      '"My_Volume" is not a valid name; use at most 63',
    ],
    [
      'a wrong effect',
      pod({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExec' }] }),
      'effect "NoExec" is not a valid value; use one of NoSchedule, PreferNoSchedule, NoExecute',
    ],
    ['a container without an image', pod({ containers: [{ name: 'other' }] }), 'image is missing; set it'],
    ['an empty image', manager({ image: '' }), 'image "" is not an image'],
    ['a name of a container', pod({ containers: [{ name: 'My_Side', image: 'x' }] }), '"My_Side" is not a valid name'],
    ['a volume twice', at(`${POD}/volumes/-`, { name: 'tmp', emptyDir: {} }), 'volumes has name "tmp" twice'],
    [
      'a mount twice',
      at(`${POD}/containers/0/volumeMounts/-`, { name: 'tmp', mountPath: '/tmp' }),
      'volumeMounts has mountPath "/tmp" twice; remove one of them',
    ],
    ['a container twice', at(`${POD}/containers/-`, { name: 'manager', image: 'x' }), 'name "manager" twice'],
    [
      'a field of another volume',
      pod({ volumes: [{ name: 'a', secret: { name: 'b' } }] }),
      'secret.name is not a known',
    ],
    ['a flag with a space', at(`${args}/-`, '--concurrent 3'), '"--concurrent 3" has a space; write --concurrent=3'],
    ['replicas as a word', merge({ spec: { replicas: 'two' } }), 'not a string; write a number without quotes'],
    ['a command as a text', manager({ command: 'sh' }), 'command must be a list, not a string; start each entry with'],
    ['a strategy as a text', at('/spec/strategy', 'Recreate'), 'spec.strategy must be an object, not a string'],
    ['a misspelt strategy', merge({ spec: { strategy: { type: 'recreate' } } }), 'strategy.type "recreate" is not a'],
    [
      'a surge that is neither a number nor a percentage',
      at('/spec/strategy', { rollingUpdate: { maxSurge: true } }),
      'maxSurge must be an integer or a percentage, not a boolean; write a number',
    ],
    ['seconds in quotes', merge({ spec: { minReadySeconds: '5' } }), 'minReadySeconds must be an integer'],
    [
      'a switch in quotes',
      merge({ spec: { paused: 'true' } }),
      'paused must be true or false without quotes, not "true"',
    ],
    ['a probe with a text', manager({ livenessProbe: { periodSeconds: '5s' } }), 'periodSeconds must be an integer'],
    [
      'a probe of no port',
      manager({ readinessProbe: { httpGet: { port: false } } }),
      'httpGet.port must be an integer or a name, not a boolean',
    ],
    ['a user in quotes', manager({ securityContext: { runAsUser: '1000' } }), 'runAsUser must be an integer'],
    ['a group of the Pod in quotes', pod({ securityContext: { fsGroup: '1337' } }), 'fsGroup must be an integer'],
    ['a file system in quotes', manager({ securityContext: { readOnlyRootFilesystem: 'yes' } }), 'not "yes"'],
    ['a misspelt policy of images', manager({ imagePullPolicy: 'always' }), 'did you mean Always?'],
    [
      'a reference that is a text',
      manager({ env: [{ name: 'A', valueFrom: { secretKeyRef: 'a' } }] }),
      'secretKeyRef must be an object',
    ],
    ['variables from a text', manager({ envFrom: [{ configMapRef: 'a' }] }), 'configMapRef must be an object'],
    [
      'a port in quotes',
      at(`${POD}/containers/0/ports/-`, { name: 'x', containerPort: '80' }),
      'containerPort must be an integer',
    ],
    ['a mount that is a text', at(`${POD}/containers/0/volumeMounts/-`, 'tmp'), 'must be an object, not a string'],
    ['a volume that is a text', at(`${POD}/volumes/-`, { name: 'a', emptyDir: 'x' }), 'emptyDir must be an object'],
    [
      'files of a volume as a text',
      at(`${POD}/volumes/-`, { name: 'a', secret: { items: 'x' } }),
      'items must be a list',
    ],
    ['a class that is a number', pod({ priorityClassName: 5 }), 'priorityClassName must be a string'],
    ['an affinity that is a text', pod({ affinity: 'x' }), 'affinity must be an object'],
    [
      'constraints that are a text',
      pod({ topologySpreadConstraints: 'x' }),
      'topologySpreadConstraints must be a list',
    ],
    [
      'pull secrets that are numbers',
      at(`${POD}/imagePullSecrets`, [{ name: 5 }]),
      'imagePullSecrets[0].name must be a string',
    ],
    [
      'names of hosts that are a text',
      at(`${POD}/hostAliases`, [{ ip: '192.0.2.1', hostnames: 'a' }]),
      'hostnames must be a list',
    ],
    ['Pods that end', pod({ restartPolicy: 'Never' }), 'restartPolicy "Never" is not a valid value; use Always'],
    ['no image', operation('remove', `${POD}/containers/0/image`), 'image is missing; set it'],
  ])('%s', (_what, patch, expected) => {
    const found = problems([patch]);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('[0] is wrong for Deployment kustomize-controller: ');
    expect(found[0]).toContain(expected);
  });

  it.each([operation('remove', '/spec'), merge({ spec: { template: null } })])('away all Pods', (patch) => {
    expect(problems([patch])).toEqual([
      '[0] removes the Pods of Deployment kustomize-controller; remove that, or set replicas to 0',
    ]);
  });

  it.each<[string, object, string]>([
    ['CustomResourceDefinition', { metadata: { name: 'any', labels: { 'a b': 'c' } } }, '"a b" is not a valid label'],
  ])('what a %s cannot have', (kind, fields, expected) => {
    const found = problems([merge(fields, { kind })], { storage: { size: '1Gi' } });
    expect(found).toEqual([expect.stringMatching(`is wrong for ${kind} `)]);
    expect(found[0]).toContain(expected);
  });

  test('away a volume that is mounted', () => {
    expect(problems([operation('replace', `${POD}/volumes`, [])])).toEqual([
      expect.stringMatching(/has no volume "\w+", which is mounted; .* path: \/spec\/template\/spec\/volumes\/-$/),
    ]);
  });

  it.each<[string, Patch]>([
    [
      'quantities in all forms',
      manager({ resources: { limits: { cpu: 2, memory: '1e9', 'nvidia.com/gpu': 1 }, requests: { cpu: 0.1 } } }),
    ],
    ['a volume in memory', pod({ volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory' } }] })],
    [
      'annotations with capitals',
      at('/spec/template/metadata/annotations', { 'Example.com/A': 'https://example.com' }),
    ],
    [
      'a volume of a Secret',
      pod({ volumes: [{ name: 'ca', secret: { secretName: 'ca', items: [{ key: 'a', path: 'b', mode: 256 }] } }] }),
    ],
    ['another probe', manager({ livenessProbe: { httpGet: null, tcpSocket: { port: 'healthz' } } })],
    ['a quick rollout', merge({ spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0 } } } })],
    [
      'other users',
      manager({ securityContext: { runAsUser: 65_534, runAsGroup: 1, seccompProfile: { $patch: 'delete' } } }),
    ],
    ['durations', at(`${args}/-`, '--requeue-dependency=1m30s')],
    ['a value from a variable', at(`${args}/-`, '--requeue-dependency=$(TIME)')],
    ['feature gates', at(`${args}/-`, '--feature-gates=A=true,B=false')],
    [
      'an affinity',
      pod({
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
      }),
    ],
  ])('but may write: %s', (_what, patch) => {
    expect(problems([patch])).toEqual([]);
  });
});
