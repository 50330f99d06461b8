import fc from 'fast-check';

const name = fc.constantFrom('a', 'b-1', 'A_b');
const reference = fc.record({ name });
const some = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });
/** Spec with required fields that are there most of the time. */
const mostly = (required: Record<string, fc.Arbitrary<unknown>>, optional: Record<string, fc.Arbitrary<unknown>>) => {
  const all = { ...required, ...optional };
  const whole = fc.record(all, { requiredKeys: Object.keys(required) });
  return fc.oneof({ weight: 5, arbitrary: whole }, { weight: 1, arbitrary: fc.record(all, { requiredKeys: [] }) });
};
const interval = fc.constantFrom('1m', '1h30m', '1m', '1m', 'x');
const timeout = fc.constantFrom('1m', '30s', '1m', '1h');
const provider = fc.constantFrom('generic', 'aws', 'azure', 'gcp', 'other');
const kubeConfig = some({ secretRef: reference, configMapRef: reference });

/** Specs around the rules of each kind: most break one, or another part of the schema. */
export const specs: Readonly<Record<string, fc.Arbitrary<object>>> = {
  GitRepository: mostly(
    { url: fc.constantFrom('https://a.example/b', 'ssh://git@a.example/b', 'ftp://a.example'), interval },
    {
      provider: fc.constantFrom('generic', 'azure', 'aws', 'github', 'gcp'),
      serviceAccountName: name,
      verify: some({ mode: fc.constantFrom('HEAD', 'HEAD', 'Tag', 'none'), secretRef: reference }),
    },
  ),
  Bucket: some({
    ...{ endpoint: fc.constant('a.example'), bucketName: fc.constant('b'), interval: fc.constant('1m') },
    provider: fc.constantFrom('generic', 'aws', 'azure', 'gcp'),
    secretRef: reference,
    serviceAccountName: name,
    sts: fc.record({ provider: fc.constantFrom('aws', 'ldap'), endpoint: fc.constant('https://a.example') }),
  }),
  OCIRepository: mostly(
    { url: fc.constantFrom('oci://a.example/b', 'oci://a.example/c', 'https://a.example/b'), interval },
    {
      ...{ provider, timeout, secretRef: reference, certSecretRef: some({ name }), insecure: fc.boolean() },
      layerSelector: some({ operation: fc.constantFrom('extract', 'copy', 'move'), mediaType: name }),
      verify: some({
        provider: fc.constantFrom('cosign', 'notation', 'gpg'),
        secretRef: reference,
        matchOIDCIdentity: fc.array(some({ issuer: name, subject: name }), { maxLength: 1 }),
        trustedRootSecretRef: reference,
      }),
    },
  ),
  HelmRepository: mostly(
    { url: fc.constantFrom('https://a.example', 'oci://a.example/b', 'http://a.example', 'ssh://a.example') },
    {
      ...{ interval, provider, timeout, secretRef: some({ name }), passCredentials: fc.boolean() },
      type: fc.constantFrom('default', 'oci', 'git'),
      accessFrom: some({ namespaceSelectors: fc.constant([{ matchLabels: { a: 'b' } }]) }),
    },
  ),
  Alert: mostly(
    {
      providerRef: fc.oneof({ weight: 5, arbitrary: reference }, { weight: 1, arbitrary: some({ name }) }),
      eventSources: fc.array(
        mostly(
          {
            kind: fc.constantFrom('GitRepository', 'Kustomization', 'HelmRelease', 'ExternalArtifact', 'Pod'),
            name: fc.constantFrom('*', 'a', 'a'.repeat(53), 'a'.repeat(54), ''),
          },
          { matchLabels: fc.constantFrom({ a: 'b' }, { a: 1 }), namespace: name },
        ),
        { maxLength: 2 },
      ),
    },
    {
      eventSeverity: fc.constantFrom('info', 'error', 'warning'),
      ...{ eventMetadata: fc.constant({ a: 'b' }), inclusionList: fc.constantFrom(['.*a'], '.*a') },
      ...{ suspend: fc.constantFrom(true, false, 'true'), summary: fc.constantFrom('a', 'a'.repeat(256)) },
    },
  ),
  ImageRepository: mostly(
    { image: fc.constantFrom('a.example/b', 'a'), interval },
    {
      ...{ provider, timeout, secretRef: some({ name }), proxySecretRef: reference, insecure: fc.boolean() },
      exclusionList: fc.constantFrom(
        ['^.*\\.sig$'],
        Array.from({ length: 26 }, () => 'a'),
        [1],
      ),
      accessFrom: some({ namespaceSelectors: fc.constant([{ matchLabels: { a: 'b' } }]) }),
    },
  ),
  ImageUpdateAutomation: mostly(
    {
      interval,
      sourceRef: fc.record({ kind: fc.constantFrom('GitRepository', 'GitRepository', 'OCIRepository'), name }),
    },
    {
      git: mostly(
        {
          commit: mostly({ author: mostly({ email: name }, { name }) }, { signingKey: some({ secretRef: reference }) }),
        },
        {
          checkout: some({ ref: fc.constant({ branch: 'main' }) }),
          push: some({ branch: name, refspec: fc.constantFrom('', 'a:b', '+a:b', ':b') }),
        },
      ),
      policySelector: fc.record({
        matchExpressions: fc.array(some({ key: name, operator: fc.constant('Exists') }), { maxLength: 1 }),
      }),
      update: some({ path: name, strategy: fc.constantFrom('Setters', 'Other') }),
    },
  ),
  ExternalArtifact: some({
    sourceRef: some({ apiVersion: fc.constantFrom('v1', 1), kind: name, name, namespace: name }),
  }),
  HelmChart: some({
    ...{
      chart: fc.constant('a'),
      interval: fc.constant('1m'),
      verify: fc.record({ provider: fc.constantFrom('cosign', 'notation') }),
    },
    sourceRef: fc.record({ kind: fc.constantFrom('HelmRepository', 'GitRepository', 'Bucket', 'Other'), name }),
  }),
  Kustomization: some({
    ...{ interval: fc.constant('1m'), prune: fc.boolean(), kubeConfig },
    sourceRef: fc.record({ kind: fc.constantFrom('GitRepository', 'Secret'), name }),
  }),
  HelmRelease: some({
    ...{
      interval: fc.constant('1m'),
      kubeConfig,
      chartRef: fc.record({ kind: fc.constantFrom('OCIRepository', 'HelmChart'), name }),
    },
    chart: fc.record({
      spec: fc.record({ chart: fc.constant('a'), sourceRef: fc.record({ kind: fc.constant('HelmRepository'), name }) }),
    }),
    install: some({
      strategy: some({
        name: fc.constantFrom('RemediateOnFailure', 'RetryOnFailure'),
        retryInterval: fc.constantFrom('1m', 'x'),
      }),
    }),
  }),
  Provider: some({
    type: fc.constantFrom('slack', 'github', 'gitlab', 'generic', 'smoke'),
    ...{ address: fc.constantFrom('https://a.example', 'x'), commitStatusExpr: fc.constant("'a'") },
  }),
  Receiver: mostly(
    {
      type: fc.constantFrom('github', 'generic', 'generic-oidc', 'other'),
      resources: fc.array(fc.record({ kind: fc.constantFrom('GitRepository', 'GitRepository', 'Pod'), name }), {
        maxLength: 2,
      }),
      secretRef: reference,
    },
    {
      interval,
      oidcProviders: fc.array(fc.record({ issuerURL: fc.constant('https://a.example'), audience: fc.constant('a') }), {
        maxLength: 1,
      }),
    },
  ),
  ImagePolicy: mostly(
    {
      imageRepositoryRef: reference,
      policy: some({
        semver: fc.record({ range: fc.constant('1.x') }),
        alphabetical: fc.record({ order: fc.constantFrom('asc', 'asc', 'x') }),
      }),
    },
    { digestReflectionPolicy: fc.constantFrom('Always', 'IfNotPresent', 'Never', 'x'), interval },
  ),
  ArtifactGenerator: mostly(
    {
      sources: fc.array(
        fc.record({ alias: fc.constantFrom('a', 'A', 'b'), kind: fc.constantFrom('GitRepository', 'Pod'), name }),
        { minLength: 1, maxLength: 1 },
      ),
      artifacts: fc.array(
        fc.record({ name: fc.constantFrom('a', 'b', 'A b'), copy: fc.constant([{ from: '@a/**', to: '@artifact/' }]) }),
        { maxLength: 2 },
      ),
    },
    { pathPattern: fc.constantFrom('', '@a/*') },
  ),
};
