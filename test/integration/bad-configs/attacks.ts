import { git } from '../../../shared/config/listed/testing.ts';
import { type BadConfig, HIDDEN, kustomization, ofKeys, ofShoot, source } from './case.ts';

const bomb = `a: &a [x, x]\n${[...'bcdefghijklm'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghijkl'[index]}`).join(', ')}]\n`).join('')}`;
const pair = { source: source(), kustomization: kustomization() };
const admission: BadConfig['unknownTo'] = ['admission'];
const selecting = (selector: string) => ({
  'overrides.yaml': `- { selector: ${selector}, config: { suspend: true } }`,
});
const patched = (target: object, patch: object) => ({ flux: { patches: [{ target, patch: JSON.stringify(patch) }] } });
const deployment = { kind: 'Deployment', name: 'kustomize-controller' };
const pod = (fields: object) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x' },
  spec: { template: { spec: fields } },
});

/** What a tenant writes to reach for other namespaces, projects or rights. */
const reaching: BadConfig[] = [
  ofShoot(
    'a Secret in place of a source',
    { source: { template: { kind: 'Secret', spec: {} } }, kustomization: kustomization() },
    ': source.template.kind "Secret" is not a valid value; use one of GitRepository, OCIRepository, Bucket',
  ),
  ofShoot(
    'an administrator in place of a Kustomization',
    { source: source(), kustomization: { template: { kind: 'ClusterRoleBinding', spec: { path: './' } } } },
    ': kustomization.template.kind "ClusterRoleBinding" is not a valid value; use Kustomization',
  ),
  ofShoot(
    'a namespace that is a path',
    { source: source({}, { metadata: { namespace: '../kube-system' } }), kustomization: kustomization() },
    ': source.template.metadata.namespace "../kube-system" is not a valid namespace name; use at most 63 lowercase letters, digits and \'-\', starting and ending with a letter or digit',
  ),
  ofShoot(
    'credentials of another project',
    { ...pair, source: { ...source(), secretResourceName: 'garden-other/flux-source' } },
    ': source.secretResourceName "garden-other/flux-source" is not an entry of the Shoot\'s spec.resources (it has fleet); add the entry or use another one',
    { resources: { fleet: 'Secret' } },
  ),
  ofShoot(
    'a copy with the path of another namespace',
    { additionalSecretResources: [{ name: 'own', targetName: '../kube-system/token' }] },
    ": additionalSecretResources[0].targetName \"../kube-system/token\" is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit",
    { resources: { own: 'Secret' } },
  ),
  ofShoot(
    "the landscape's own field",
    { flux: { landscapePullSecret: 'pull' } },
    ': flux.landscapePullSecret is not a known key; known keys are version, registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy, watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy, tenantDefaultServiceAccount, size, priorityClass, imageDigests, sopsAgeSecret, nodeSelector, commonMetadata, proxy, storage, sharding, patches',
  ),
  ofShoot(
    'labels of the resource-manager',
    {
      source: source({}, { metadata: { labels: { 'resources.gardener.cloud/managed-by': 'x' } } }),
      kustomization: kustomization(),
    },
    ': source.template.metadata.labels has the key "resources.gardener.cloud/managed-by", which is reserved for Gardener; remove it',
  ),
  ofShoot(
    'an object with a path as its name',
    { objects: [{ ...git('a'), metadata: { name: '../../secrets/x' } }] },
    ": objects[0].metadata.name \"../../secrets/x\" is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit",
  ),
  ofShoot(
    'an object of an API that only looks like one of Flux',
    { objects: [{ ...git('a'), apiVersion: 'source.toolkit.fluxcd.io.evil.example/v1' }] },
    ': objects[0].apiVersion "source.toolkit.fluxcd.io.evil.example/v1" is not an API version of GitRepository; use source.toolkit.fluxcd.io/v1 or omit it',
  ),
  ofShoot(
    'a patch that makes Flux privileged',
    patched(deployment, pod({ containers: [{ name: 'manager', securityContext: { privileged: true } }] })),
    ': flux.patches[0] gives Deployment kustomize-controller the rights of its node (privileged); remove it',
    { unknownTo: admission },
  ),
  ofShoot(
    'a patch that mounts the node',
    patched(deployment, pod({ volumes: [{ name: 'root', hostPath: { path: '/' } }] })),
    ': flux.patches[0] gives Deployment kustomize-controller the rights of its node (a hostPath); remove it',
    { unknownTo: admission },
  ),
  ofShoot(
    'a patch that takes the network of the node',
    patched(deployment, [{ op: 'add', path: '/spec/template/spec/hostNetwork', value: true }]),
    ': flux.patches[0] gives Deployment kustomize-controller the rights of its node (hostNetwork); remove it',
    { unknownTo: admission },
  ),
  ofShoot(
    'a patch that moves an object',
    patched(deployment, [{ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }]),
    ': flux.patches[0] changes the kind, name or namespace of Deployment kustomize-controller; a patch can only change the fields of an installed object',
    { unknownTo: admission },
  ),
  ofShoot(
    'a patch that gives rights to others',
    patched({ kind: 'ClusterRoleBinding' }, [
      { op: 'add', path: '/subjects/-', value: { kind: 'User', name: 'evil' } },
    ]),
    ': flux.patches[0] changes ClusterRoleBinding cluster-reconciler-flux-system, which decides what Flux may do; only its labels and annotations can be patched',
    { unknownTo: admission },
  ),
  ofShoot(
    'a patch whose pattern never ends',
    { flux: { patches: [{ target: { name: '(a+)+$' }, patch: '[{"op":"remove","path":"/spec"}]' }] } },
    ': flux.patches[0] target.name "(a+)+$" is too complex a pattern; use a name, or a form like (source|helm)-controller.*',
  ),
];

/** What makes text mean something else. */
const injecting: BadConfig[] = [
  ofKeys(
    'credentials behind an encoded at',
    { repositoryUrl: `https://user%40corp:${HIDDEN}@git.example.com/fleet` },
    'repositoryUrl contains credentials, which anyone can read here; put them in a Secret instead',
  ),
  ofKeys(
    'a host behind a backslash',
    { repositoryUrl: 'https://git.example.com\\@evil.example/fleet' },
    'repositoryUrl "https://...@evil.example/fleet" contains a backslash; use only slashes',
  ),
  ofKeys(
    'a variable that chooses the user',
    { repositoryUrl: `ssh://\${SHOOT_LABEL_user}@git.example.com/fleet`, repositoryType: 'private' },
    'repositoryUrl has a variable outside of its path, where a label of a Shoot could choose the host; move it into the path',
  ),
  ofShoot(
    'a variable that chooses the host of an object',
    { objects: [git('a', { url: `https://\${SHOOT_LABEL_host}/org/fleet` })] },
    ': objects[0].spec.url has a variable outside of its path, where a label of a Shoot could choose the host; move it into the path',
    { labels: { host: 'evil.example' } },
  ),
  ofKeys(
    'a variable in a variable',
    { repositoryPath: `./\${SHOOT_LABEL_\${SHOOT_NAME}}` },
    `repositoryPath has \${SHOOT_… without a } of its own; close it, and write no variable inside another one`,
  ),
  ofKeys(
    'a variable of the environment',
    { repositoryPath: `./\${AWS_SECRET_ACCESS_KEY}` },
    `repositoryPath uses \${AWS_SECRET_ACCESS_KEY}, which is not a variable; use SHOOT_LABEL_ with the key of a label, or one of SHOOT_NAME, SHOOT_NAMESPACE, SHOOT_PROJECT, SHOOT_UID, SHOOT_PROVIDER, SHOOT_REGION, SHOOT_CLOUD_PROFILE, SHOOT_PURPOSE, SHOOT_KUBERNETES_VERSION, SHOOT_DOMAIN, SHOOT_POD_NETWORK, SHOOT_SERVICE_NETWORK, SHOOT_NODE_NETWORK, SHOOT_MAINTENANCE_BEGIN, SHOOT_MAINTENANCE_END; write $\${ for \${ itself`,
  ),
  ofKeys(
    'a prototype as a variable',
    { repositoryPath: `./\${SHOOT_LABEL___proto__}` },
    `repositoryPath uses \${SHOOT_LABEL___proto__}, but "__proto__" is not the key of a label; write only the key, and set the field for Shoots without the label in overrides.yaml`,
  ),
  ofKeys(
    'a branch with an option of Git',
    { repositoryBranch: '--upload-pack=touch' },
    'repositoryBranch "--upload-pack=touch" is not a valid Git ref name; use the branch or tag as Git shows it',
  ),
  {
    ...ofKeys(
      'a label that ends with a dot',
      { repositoryPath: `./\${SHOOT_LABEL_folder}` },
      `repositoryPath uses \${SHOOT_LABEL_folder}, whose value ".." has more than letters, digits, '.', '_' and '-'; use another variable`,
    ),
    labels: { folder: '..' },
    isRefusedByApi: true,
  },
  {
    ...ofKeys(
      'a label with a quotation mark and a line break',
      { repositoryPath: `./\${SHOOT_LABEL_team}` },
      `repositoryPath uses \${SHOOT_LABEL_team}, whose value "a\\"\\nprune: true" has more than letters, digits, '.', '_' and '-'; use another variable`,
    ),
    labels: { team: 'a"\nprune: true' },
    isRefusedByApi: true,
  },
  {
    ...ofKeys(
      'a label that is a variable',
      { repositoryPath: `./\${SHOOT_LABEL_nested}` },
      `repositoryPath uses \${SHOOT_LABEL_nested}, whose value "\${SHOOT_UID}" has more than letters, digits, '.', '_' and '-'; use another variable`,
    ),
    labels: { nested: `\${SHOOT_UID}` },
    isRefusedByApi: true,
  },
  ofKeys(
    'a prototype in config.yaml',
    { 'config.yaml': 'flux: { __proto__: { logLevel: debug } }' },
    'config.yaml has the key "__proto__", which is not supported; remove it',
  ),
  ofKeys(
    'a selector on a prototype',
    selecting('{ matchLabels: { __proto__: x } }'),
    'overrides.yaml has the key "__proto__", which is not supported; remove it',
  ),
  ofKeys(
    'a huge selector',
    selecting(
      `{ matchExpressions: [{ key: a, operator: In, values: [${Array.from({ length: 101 }, (_, i) => `v${i}`).join(', ')}] }] }`,
    ),
    'overrides.yaml[0].selector.matchExpressions[0].values has 101 entries; use at most 100',
  ),
  ofKeys(
    'aliases that become millions of values',
    { 'config.yaml': bomb },
    'config.yaml has aliases that stand for too many values; write the values out',
  ),
  ofKeys(
    'five thousand keys',
    { 'config.yaml': Array.from({ length: 5100 }, (_, i) => `k${i}: 1`).join('\n') },
    'config.yaml has more than 5,000 values in all its objects and lists; move long content to the repository',
  ),
  ofKeys(
    'a tag of another language',
    { 'config.yaml': 'flux: !!js/function "() => 1"' },
    'config.yaml.flux must be an object, not a string',
  ),
  ofShoot(
    'a key with a letter of another alphabet',
    { sour\u0441e: source() },
    ': sourсe is not a known key; did you mean source?',
  ),
  ofShoot(
    'a kind with a letter of another alphabet',
    { objects: [{ ...git('a'), kind: 'GitR\u0435pository' }] },
    ': objects[0].kind "GitRеpository" is not a kind of Flux; did you mean GitRepository?',
  ),
  ofShoot(
    'a name with a letter of another alphabet',
    { flux: { imagePullSecret: 'p\u0430sswords' } },
    ": flux.imagePullSecret \"pаsswords\" is not a valid object name; use at most 253 lowercase letters, digits, '-' and '.', where each part between dots starts and ends with a letter or digit",
  ),
  ofShoot(
    'a prototype as a field',
    JSON.parse('{"flux":{"__proto__":{"logLevel":"debug"}}}'),
    ' has the key "__proto__", which is not supported; remove it',
  ),
];

export const attacks = [...reaching, ...injecting];
