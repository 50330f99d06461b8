import { describe, expect, test } from 'vitest';
import { issueText } from '../errors.ts';
import {
  bucket,
  git,
  gitRepository,
  helmRelease,
  helmRepository,
  kustomization,
  kustomize,
  ociRepository,
  problems,
  withConfig,
  withFluxConfig,
  withTemplates,
} from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import type { ConfigInputs } from './types.ts';

const objects = (...list: object[]) => withConfig({ objects: list });
const of = (kind: string, spec: object) => objects({ kind, metadata: { name: 'a' }, spec });
const chart = (spec: object, fields: object = {}) =>
  objects(
    helmRepository('charts'),
    helmRelease('a', 'charts', { chart: { spec: { chart: 'a', ...spec } }, ...fields }),
  );
const charts = { kind: 'HelmRepository', name: 'charts' };
const image = (name: string) => of('ImageRepository', { interval: '1m', image: name });
const automation = (fields: object) =>
  objects(git('a'), {
    kind: 'ImageUpdateAutomation',
    metadata: { name: 'b' },
    spec: { interval: '1m', sourceRef: { kind: 'GitRepository', name: 'a' }, ...fields },
  });
const flux = (data: Record<string, string>) =>
  withFluxConfig({ repositoryUrl: 'https://github.com/org/fleet', ...data });
const path = (folder: string) => withTemplates(gitRepository(), kustomization({ path: folder }));
const ref = (fields: object) => withTemplates(gitRepository({ ref: fields }));
const oci = (fields: object) => withTemplates(ociRepository({ ref: fields }));
const HEX = 'ab'.repeat(32);
const ZERO = 'is zero; use a longer duration, for example 1m';

/** The end of the only sentence about a value that a controller always refuses -> where it is written. */
const bad: Record<string, ConfigInputs> = {
  // Revisions.
  'repositoryBranch "refs/heads/main" is a full ref name; use main': flux({ repositoryBranch: 'refs/heads/main' }),
  'repositoryBranch "refs/tags/v1" is a full ref name; use the tag v1': flux({ repositoryBranch: 'refs/tags/v1' }),
  'repositoryTag "refs/tags/v1" is a full ref name; use v1': flux({ repositoryTag: 'refs/tags/v1' }),
  'repositoryTag "v1.*" is a range of versions; use semver instead of tag': flux({ repositoryTag: 'v1.*' }),
  'ref.branch "refs/heads/a/b" is a full ref name; use a/b': ref({ branch: 'refs/heads/a/b' }),
  'ref.branch "refs/pull/1/head" is neither a branch nor a tag; write it as spec.ref.name of a source\'s template': ref(
    {
      branch: 'refs/pull/1/head',
    },
  ),
  'ref.name "main" is not the full name of a ref; use a form like refs/heads/main': ref({ name: 'main' }),
  'ref.name "tags/v1" is not the full name of a ref; use a form like refs/tags/v1': ref({ name: 'tags/v1' }),
  'ref.tag ">=1.0.0" is a range of versions; use semver instead of tag': ref({ tag: '>=1.0.0' }),
  'objects[0].spec.ref.branch "refs/heads/main" is a full ref name; use main': objects(
    git('a', { ref: { branch: 'refs/heads/main' } }),
  ),
  'git.checkout.ref.branch "refs/heads/main" is a full ref name; use main': automation({
    git: { checkout: { ref: { branch: 'refs/heads/main' } } },
  }),
  'git.push.branch "refs/heads/main" is a full ref name; use main': automation({
    git: { push: { branch: 'refs/heads/main' } },
  }),
  'ref.tag "^1.0" is a range of versions; use semver instead of tag': oci({ tag: '^1.0' }),
  [`ref.tag "sha256:${HEX}" is a digest; use digest instead of tag`]: oci({ tag: `sha256:${HEX}` }),
  [`ref.digest "${HEX}" lacks its algorithm; use sha256:${HEX}`]: oci({ digest: HEX }),
  'ref.digest "sha256:abcd" is not a complete digest; use sha256: and all 64 digits, as the registry shows them': oci({
    digest: 'sha256:abcd',
  }),
  'ref.digest "v1" is not a valid digest; use a form like sha256:6f1c...': oci({ digest: 'v1' }),
  // Paths.
  'repositoryPath ".\\\\clusters\\\\prod" contains a backslash; use ./clusters/prod': flux({
    repositoryPath: '.\\clusters\\prod',
  }),
  'path "C:\\\\fleet\\\\prod" contains a backslash; use ./fleet/prod': path('C:\\fleet\\prod'),
  'path "https://github.com/org/fleet/tree/main/prod" is a URL; use the folder in the repository, for example ./clusters/production':
    path('https://github.com/org/fleet/tree/main/prod'),
  'path "./prod/kustomization.yaml" is a file; use its folder, ./prod': path('./prod/kustomization.yaml'),
  'patch.spec.path "a\\\\b" contains a backslash; use ./a/b': {
    ...flux({}),
    ...withConfig({ kustomization: { patch: { spec: { path: 'a\\b' } } } }),
  },
  // URLs.
  'repositoryUrl "https://github.com/org/fleet.git?ref=main" is not the URL of a Git repository; use https://github.com/org/fleet.git, and write ref=main into the fields for revision and path':
    flux({ repositoryUrl: 'https://github.com/org/fleet.git?ref=main' }),
  'url "oci://ghcr.io/org/fleet:v1" contains a tag; use oci://ghcr.io/org/fleet, and v1 as spec.ref.tag': withTemplates(
    ociRepository({ url: 'oci://ghcr.io/org/fleet:v1' }),
  ),
  [`contains a digest; use oci://ghcr.io/a, and sha256:${HEX} as spec.ref.digest`]: withTemplates(
    ociRepository({ url: `oci://ghcr.io/a@sha256:${HEX}` }),
  ),
  'url "ghcr.io/org/fleet:v1" is not the URL of an OCI artifact; it must start with oci://, as in oci://ghcr.io/org/fleet':
    withTemplates(ociRepository({ url: 'ghcr.io/org/fleet:v1' })),
  'url "https://github.com/org/fleet" is a Git repository; use a source of kind GitRepository for it': withTemplates(
    ociRepository({ url: 'https://github.com/org/fleet' }),
  ),
  'objects[0].spec.type is missing, because url begins with oci://; set it to oci': objects(
    helmRepository('a', { url: 'oci://ghcr.io/org/charts' }),
  ),
  'objects[0].spec.type must be oci, because url begins with oci://; set it to oci': objects(
    helmRepository('a', { url: 'oci://ghcr.io/org/charts', type: 'default' }),
  ),
  'objects[0].spec.url "https://ghcr.io/org/charts" must begin with oci://, because type is oci; use oci://ghcr.io/org/charts, or remove type':
    objects(helmRepository('a', { url: 'https://ghcr.io/org/charts', type: 'oci' })),
  'url "oci://ghcr.io/org/app:1.0.0" contains a version; use oci://ghcr.io/org/app, and 1.0.0 as the version of the chart':
    objects(helmRepository('a', { url: 'oci://ghcr.io/org/app:1.0.0', type: 'oci' })),
  'url "https://charts.example.com/stable/index.yaml" is the index of the repository; use https://charts.example.com/stable':
    objects(helmRepository('a', { url: 'https://charts.example.com/stable/index.yaml' })),
  'url "https://github.com/org/charts" is a page of GitHub, not a repository of charts; use the URL of its GitHub Pages, or a GitRepository':
    objects(helmRepository('a', { url: 'https://github.com/org/charts' })),
  'url "https://github.com/org/charts/tree/gh-pages" is a page of GitHub, ': objects(
    helmRepository('a', { url: 'https://github.com/org/charts/tree/gh-pages' }),
  ),
  'url "https://artifacthub.io/packages/helm/a/b" is a page of Artifact Hub; ': objects(
    helmRepository('a', { url: 'https://artifacthub.io/packages/helm/a/b' }),
  ),
  // Buckets.
  'objects[0].spec.endpoint "https://s3.example.com" has a scheme; use only host and port, s3.example.com': of(
    'Bucket',
    { bucketName: 'a', endpoint: 'https://s3.example.com' },
  ),
  'objects[0].spec.endpoint "http://minio:9000" has a scheme; use only host and port, minio:9000, and set insecure to true':
    of('Bucket', { bucketName: 'a', endpoint: 'http://minio:9000' }),
  'endpoint "s3.example.com/fleet" has a path; use only host and port, s3.example.com': withTemplates(
    bucket({ endpoint: 's3.example.com/fleet' }),
  ),
  'bucketName "s3://fleet/prod" is not the name of a bucket; use fleet, and prod as prefix': withTemplates(
    bucket({ bucketName: 's3://fleet/prod' }),
  ),
  // Charts.
  'chart.spec.chart "./charts/a" is not the name of a chart in a repository; use lowercase letters, and neither a path nor a version':
    chart({
      chart: './charts/a',
      sourceRef: charts,
    }),
  'chart.spec.chart "a:1.0.0" is not the name of a chart in a repository; use lowercase letters, and neither a path nor a version':
    chart({
      chart: 'a:1.0.0',
      sourceRef: charts,
    }),
  'chart.spec.version "newest version" is not a version range; use a form like >=1.0.0 <2.0.0': chart({
    version: 'newest version',
    sourceRef: charts,
  }),
  // Images.
  'image "https://ghcr.io/org/app" has a scheme; use ghcr.io/org/app': image('https://ghcr.io/org/app'),
  'image "ghcr.io/org/app:v1" has a tag; use ghcr.io/org/app': image('ghcr.io/org/app:v1'),
  'image "nginx:1.27" has a tag; use nginx': image('nginx:1.27'),
  'has a scheme, a tag, and a digest; use ghcr.io/a': image(`oci://ghcr.io/a:1@sha256:${HEX}`),
  'image "ghcr.io/Org/app" is not the name of an image; use a form like ghcr.io/org/app': image('ghcr.io/Org/app'),
  'policy is empty; set one of semver, alphabetical, numerical': objects(
    { kind: 'ImageRepository', metadata: { name: 'a' }, spec: { interval: '1m', image: 'nginx' } },
    { kind: 'ImagePolicy', metadata: { name: 'a' }, spec: { imageRepositoryRef: { name: 'a' }, policy: {} } },
  ),
  'git is missing; set at least git.commit.author.email, with which Flux commits': automation({}),
  // Notifications.
  'resources[0] has the name *, which needs matchLabels; set them, or write the name of the object': of('Receiver', {
    resources: [{ kind: 'GitRepository', name: '*' }],
  }),
  'address "hooks.slack.com/services/x" is not a URL; use https://hooks.slack.com/services/x': of('Provider', {
    type: 'slack',
    address: 'hooks.slack.com/services/x',
  }),
  // References.
  'objects[0].spec.chart cannot read OCIRepository; use chartRef: {kind: OCIRepository, name: etcd} instead of chart':
    objects(
      helmRelease('a', '', { chart: { spec: { chart: 'etcd', sourceRef: { kind: 'OCIRepository', name: 'etcd' } } } }),
    ),
  'spec.chartRef cannot read HelmRepository; use chart.spec.sourceRef: {kind: HelmRepository, name: charts, namespace: team} and chart.spec.chart instead of chartRef':
    objects(
      helmRelease('a', '', {
        chart: undefined,
        chartRef: { kind: 'HelmRepository', name: 'charts', namespace: 'team' },
      }),
    ),
  'sourceRef.kind OCIRepository has a chart of its own; name it as chartRef of a HelmRelease instead of this HelmChart':
    of('HelmChart', { interval: '1m', chart: 'a', sourceRef: { kind: 'OCIRepository', name: 'a' } }),
  'sourceRef.kind HelmRepository has no manifests to apply; name a GitRepository, OCIRepository or Bucket, deploy charts with a HelmRelease, and wait for other objects with dependsOn':
    objects(kustomize('a', 'a', { sourceRef: { kind: 'HelmRepository', name: 'a' } })),
  'sourceRef.kind Kustomization has no manifests to apply; name a GitRepository': objects(
    kustomize('a', 'a', { sourceRef: { kind: 'Kustomization', name: 'a' } }),
  ),
  'dependsOn[0].name "team/c" is not the name of a Kustomization; write name: c and namespace: team': objects(
    git('a'),
    kustomize('b', 'a', { dependsOn: [{ name: 'team/c' }] }),
  ),
  'dependsOn[0].name "kustomization/c" is not the name of a Kustomization; write name: c': objects(
    git('a'),
    kustomize('b', 'a', { dependsOn: [{ name: 'kustomization/c' }] }),
  ),
  'dependsOn[0] must be an object, not a string; write name: c': objects(
    git('a'),
    kustomize('b', 'a', { dependsOn: ['c'] }),
  ),
  'chart.spec.sourceRef names HelmRepository "etcd" in namespace flux-system, which the configuration does not have; use chartRef: {kind: OCIRepository, name: etcd} instead of chart':
    objects({ ...ociRepository(), metadata: { name: 'etcd' } }, helmRelease('a', 'etcd')),
  'sourceRef names GitRepository "a" in namespace flux-system, which the configuration does not have; name a GitRepository, OCIRepository or Bucket, deploy charts':
    objects(helmRepository('a'), kustomize('b', 'a')),
  'sourceRef names GitRepository "a" in namespace flux-system, which the configuration does not have; did you mean kind OCIRepository?':
    objects({ ...ociRepository(), metadata: { name: 'a' } }, kustomize('a', 'a')),
  'sourceRef names GitRepository "apps" in namespace flux-system, which the configuration does not have; add it':
    objects(kustomize('apps', 'apps')),
  'providerRef names Provider "a" in namespace flux-system, which the configuration does not have; add it': objects(
    git('a'),
    { kind: 'Alert', metadata: { name: 'b' }, spec: { providerRef: { name: 'a' }, eventSources: [] } },
  ),
  'objects[3].spec.dependsOn[0] names the Kustomization "apps", but a HelmRelease can only wait for other HelmReleases; put this one into a folder of the repository, and let the Kustomization of that folder wait':
    objects(
      ...[
        git('a'),
        kustomize('apps', 'a'),
        helmRepository('charts'),
        helmRelease('b', 'charts', { dependsOn: [{ name: 'apps' }] }),
      ],
    ),
};

test.each(Object.entries(bad))('%s', (sentence, inputs) => {
  const found = problems(inputs);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(sentence);
});

const zero = (kind: string, field: string): ConfigInputs => {
  const value = field.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), '0s') as object;
  const spec: Record<string, object> = {
    HelmRelease: { chartRef: { kind: 'OCIRepository', name: 'a' }, interval: '1m' },
    HelmChart: { sourceRef: { kind: 'GitRepository', name: 'a' } },
    ImagePolicy: { imageRepositoryRef: { name: 'a' }, policy: { semver: { range: '1.x' } } },
    ImageUpdateAutomation: { sourceRef: { kind: 'GitRepository', name: 'a' }, git: {} },
    ImageRepository: { image: 'nginx' },
    HelmRepository: { url: 'https://charts.example.com' },
    GitRepository: { url: 'https://github.com/org/a' },
  };
  const sources = [
    git('a'),
    { ...ociRepository(), metadata: { name: 'a' } },
    { kind: 'ImageRepository', metadata: { name: 'a' }, spec: { interval: '1m', image: 'nginx' } },
  ];
  const needed = kind === 'GitRepository' || kind === 'ImageRepository' ? [] : sources;
  return objects(...needed, { kind, metadata: { name: 'a' }, spec: { ...spec[kind], ...value } });
};

describe('a duration of zero', () => {
  test.each([
    ['HelmRelease', 'interval'],
    ['HelmRelease', 'timeout'],
    ['HelmRelease', 'install.timeout'],
    ['HelmRelease', 'upgrade.timeout'],
    ['HelmRelease', 'rollback.timeout'],
    ['HelmRelease', 'uninstall.timeout'],
    ['HelmRelease', 'test.timeout'],
    ['HelmRelease', 'install.strategy.retryInterval'],
    ['HelmRelease', 'upgrade.strategy.retryInterval'],
    ['HelmRelease', 'chart.spec.interval'],
    ['HelmChart', 'interval'],
    ['HelmRepository', 'timeout'],
    ['GitRepository', 'timeout'],
    ['ImageRepository', 'interval'],
    ['ImagePolicy', 'interval'],
    ['ImageUpdateAutomation', 'interval'],
    ['Kustomization', 'retryInterval'],
    ['Provider', 'timeout'],
  ])('is wrong in a %s: %s', (kind, field) => {
    expect(problems(zero(kind, field)).filter((text) => text.includes(`spec.${field} "0s" ${ZERO}`))).toHaveLength(1);
  });

  // Zero is how Go programs leave out an interval, and these kinds have a default.
  test.each([
    ['Kustomization', 'timeout'],
    ['Kustomization', 'interval'],
    ['GitRepository', 'interval'],
    ['HelmRepository', 'interval'],
    ['ImageRepository', 'timeout'],
    ['Receiver', 'interval'],
    ['Provider', 'interval'],
  ])('is right in a %s: %s', (kind, field) => {
    expect(problems(zero(kind, field)).filter((text) => text.includes(field))).toEqual([]);
  });

  test('is right for Helm where it does not wait', () => {
    const install = { timeout: '0s', disableWait: true };
    expect(problems(chart({ sourceRef: charts }, { install }))).toEqual([]);
  });

  test('and a negative one are wrong in a key and a patch', () => {
    expect(problems(flux({ repositoryInterval: '-1m' }))[0]).toContain(
      '"-1m" is negative; use a duration without a sign',
    );
    const patch = withConfig({ kustomization: { patch: { spec: { interval: '0s' } } } });
    expect(problems({ ...flux({}), ...patch })).toEqual([
      `providerConfig: kustomization.patch.spec.interval "0s" ${ZERO}`,
    ]);
  });
});

/** What Flux accepts. */
const good: Record<string, ConfigInputs> = {
  'branch with slashes': ref({ branch: 'feature/refs/heads/x' }),
  'tag with a prefix': ref({ tag: 'release/v1.0.0' }),
  'full names': ref({ name: 'refs/pull/1/head' }),
  'the default branch': ref({ name: 'HEAD' }),
  'a tag that looks like a range': oci({ tag: '1.x' }),
  'an artifact that is called like a repository': withTemplates(ociRepository({ url: 'oci://ghcr.io/org/fleet.git' })),
  'another algorithm': oci({ digest: `sha512:${HEX}${HEX}` }),
  'a folder that is called like a kind': path('./Kustomization'),
  'the root': path('/'),
  'an absolute path, which begins in the repository': path('/clusters/prod'),
  'a folder with a dot': path('./kustomization.d'),
  'a folder whose name ends like a file of kustomize': path('./my-kustomization.yaml'),
  'fields that are left empty': automation({
    git: {
      commit: { author: { email: 'a@b.c' } },
      checkout: { ref: { branch: 'main', name: '', tag: '', semver: '' } },
    },
  }),
  'a range of dates': ref({ semver: '>=2026.01.01' }),
  'charts in a registry': objects(helmRepository('a', { url: 'oci://ghcr.io/org/charts', type: 'oci' })),
  'a registry with a port': objects(
    helmRepository('a', { url: 'oci://registry.example.com:5000/charts', type: 'oci' }),
  ),
  'charts in files of GitHub': objects(helmRepository('a', { url: 'https://github.com/org/charts/raw/gh-pages' })),
  'charts on a release page': objects(
    helmRepository('a', { url: 'https://github.com/org/charts/releases/download/v1' }),
  ),
  'charts in GitLab': objects(
    helmRepository('a', { url: 'https://gitlab.com/api/v4/projects/1/packages/helm/stable' }),
  ),
  'a Bucket of Azure': of('Bucket', {
    provider: 'azure',
    bucketName: 'a',
    endpoint: 'https://a.blob.core.windows.net/',
  }),
  'a Bucket of Google': of('Bucket', { provider: 'gcp', bucketName: 'a', endpoint: 'https://storage.googleapis.com' }),
  'a Bucket with a port': of('Bucket', { bucketName: 'a', endpoint: 'minio:9000/' }),
  'a chart in Git': objects(
    git('a'),
    helmRelease('a', '', {
      chart: { spec: { chart: './Charts/A', version: 'any', sourceRef: { kind: 'GitRepository', name: 'a' } } },
    }),
  ),
  'versions of charts': chart({ version: '>= 1.0, < 2 || ~3.1', sourceRef: charts }),
  'a tag of a chart': chart({ version: 'latest', sourceRef: charts }),
  'a chart in a folder of a registry': chart({ chart: 'org/app_2.x', sourceRef: charts }),
  'an image with a port': image('localhost:5000/org/app'),
  'an image of Docker Hub': image('library/nginx'),
  'a Receiver by labels': of('Receiver', {
    resources: [{ kind: 'GitRepository', name: '*', matchLabels: { a: 'b' } }],
  }),
  'an address in a Secret': {
    ...of('Provider', { type: 'slack', address: 'x', secretRef: { name: 's' } }),
    ...withConfig({
      existingSecrets: ['s'],
      objects: [
        { kind: 'Provider', metadata: { name: 'a' }, spec: { type: 'slack', address: 'x', secretRef: { name: 's' } } },
      ],
    }),
  },
  'an address that is no URL': of('Provider', { type: 'telegram', address: 'x' }),
  'the repository of a status': of('Provider', { type: 'github', address: 'git@github.com:org/fleet' }),
};

test.each(Object.entries(good))('%s is right', (_, inputs) => {
  expect(problems(inputs)).toEqual([]);
});

/** The warning about what Flux accepts, and what is hardly meant -> where it is written. */
test.each<[string, ConfigInputs]>([
  [
    'repositoryBranch "origin/main" is the name of a branch in a clone; write main if that is its name on the server',
    flux({ repositoryBranch: 'origin/main' }),
  ],
  [
    'repositoryPath "../clusters/prod" leaves the repository, so Flux reads ./clusters/prod; write the path from its root',
    flux({ repositoryPath: '../clusters/prod' }),
  ],
  [
    'source.template.spec.ref.branch "origin/a/b" is the name of a branch in a clone; write a/b ',
    ref({ branch: 'origin/a/b' }),
  ],
  ['kustomization.template.spec.path "./a/../../b" leaves the repository, so Flux reads ./b; ', path('./a/../../b')],
  ['objects[0].spec.ref.branch "origin/main" is the name', objects(git('a', { ref: { branch: 'origin/main' } }))],
])('warns: %s', (sentence, inputs) => {
  const warnings = effectiveConfig(inputs).warnings?.map(issueText);
  expect(warnings).toHaveLength(1);
  expect(warnings?.[0]).toContain(sentence);
});

test('a path that stays in the repository gets no warning', () => {
  expect(effectiveConfig(path('./a/../b')).warnings).toBeUndefined();
});
