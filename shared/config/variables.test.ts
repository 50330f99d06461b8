// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { describe, expect, it } from 'vitest';
import {
  bucket,
  gitRepository,
  kustomization,
  ociRepository,
  problems,
  withConfig,
  withTemplates,
} from './config.fixtures.ts';
import { effectiveConfig } from './effective-config.ts';
import type { ConfigInputs } from './types.ts';
import { substitute } from './variables.ts';

const object = 'ConfigMap garden-foo/flux-config';
const facts = { SHOOT_NAME: 'bar', SHOOT_REGION: 'eu-1' };
const shoot = (labels: Record<string, string> = {}) => ({ labels, facts });
const withKeys = (data: Record<string, string>, labels?: Record<string, string>): ConfigInputs => ({
  fluxConfig: { namespace: 'garden-foo', data },
  shoot: shoot(labels),
});
const repository = { repositoryUrl: 'https://git.example.com/org/fleet' };

describe('variables', () => {
  it('are replaced in url, ref and path of the keys', () => {
    const config = effectiveConfig(
      withKeys(
        {
          repositoryUrl: 'https://git.example.com/${SHOOT_REGION}/fleet',
          repositoryBranch: 'release-${SHOOT_LABEL_example.com/stage}',
          repositoryPath: './clusters/${SHOOT_NAME}',
        },
        { 'example.com/stage': 'dev' },
      ),
    );
    expect(config.source?.spec).toMatchObject({
      url: 'https://git.example.com/eu-1/fleet',
      ref: { branch: 'release-dev' },
    });
    expect(config.kustomization?.spec).toMatchObject({ path: './clusters/bar' });
  });

  it('are replaced in templates of every layer, and in no other field', () => {
    const template = ociRepository({
      url: 'oci://ghcr.io/org/${SHOOT_NAME}',
      ref: { semver: '~${SHOOT_LABEL_version}' },
      layerSelector: { mediaType: '${SHOOT_NAME}' },
    });
    const config = effectiveConfig({
      ...withTemplates(template, kustomization({ path: './${SHOOT_NAME}', targetNamespace: 'default' })),
      shoot: shoot({ version: '1.2' }),
    });
    expect(config.source?.spec).toMatchObject({
      url: 'oci://ghcr.io/org/bar',
      ref: { semver: '~1.2' },
      layerSelector: { mediaType: '${SHOOT_NAME}' },
    });
    expect(config.kustomization?.spec).toMatchObject({ path: './bar' });
  });

  it.each([
    ['SHOOT_POD_NETWORK', '10.0.0.0/8/../..'],
    ['SHOOT_POD_NETWORK', '../8'],
    ['SHOOT_POD_NETWORK', 'a/b'],
    ['SHOOT_MAINTENANCE_BEGIN', '220000+0100/..'],
    ['SHOOT_LABEL_MY_NETWORK', '10.0.0.0/8'],
  ])('%s is refused with the value %s', (name, value) => {
    const values = { [name]: value, MY_NETWORK: value };
    expect(substitute(`./\${${name}}`, { labels: values, facts: values })).toEqual({
      problem: expect.stringContaining('whose value'),
    });
  });

  it('stay as they are while the Shoot is not known', () => {
    const { fluxConfig } = withKeys({ ...repository, repositoryPath: './${SHOOT_NAME}' });
    expect(effectiveConfig({ fluxConfig }).kustomization?.spec).toMatchObject({ path: './${SHOOT_NAME}' });
    expect(effectiveConfig({ fluxConfig, shoot: { labels: {} } }).kustomization?.spec).toMatchObject({
      path: './${SHOOT_NAME}',
    });
  });

  it.each<[string, string]>([
    ['$${SHOOT_NAME}', '${SHOOT_NAME}'],
    ['$$${SHOOT_NAME}', '$${SHOOT_NAME}'],
    ['a$${b}-${SHOOT_NAME}', 'a${b}-bar'],
    ['$$ and $x and ${unfinished', '$$ and $x and ${unfinished'],
  ])('are escaped: %s', (text, result) => {
    expect(substitute(text, shoot())).toEqual({ text: result });
  });

  it.each(['bucketName', 'endpoint'])('have no place in the %s of a bucket', (field) => {
    expect(problems(withTemplates(bucket({ [field]: 'a-${SHOOT_NAME}' })))).toEqual([
      `providerConfig: source.template.spec.${field} has the variable \${SHOOT_NAME}, but only a URL, ref or path may have one; write the value, in overrides.yaml if Shoots differ`,
    ]);
  });

  it.each(
    Object.entries<Record<string, string>>({
      'repositoryPath uses ${SHOOT_NAM}, which is not a variable; did you mean SHOOT_NAME?': {
        repositoryPath: './${SHOOT_NAM}',
      },
      'repositoryBranch uses ${BRANCH}, which is not a variable; use SHOOT_LABEL_ with the key of a label, or one of SHOOT_NAME, SHOOT_NAMESPACE, SHOOT_PROJECT, SHOOT_UID, SHOOT_PROVIDER, SHOOT_REGION, SHOOT_CLOUD_PROFILE, SHOOT_PURPOSE, SHOOT_KUBERNETES_VERSION, SHOOT_DOMAIN, SHOOT_POD_NETWORK, SHOOT_SERVICE_NETWORK, SHOOT_NODE_NETWORK, SHOOT_MAINTENANCE_BEGIN, SHOOT_MAINTENANCE_END; write $${ for ${ itself':
        { repositoryBranch: '${BRANCH}' },
      'repositoryPath uses ${SHOOT_LABEL_stage}, but the Shoot has no value for the label "stage"; add the label, or set the field for such Shoots in overrides.yaml':
        { repositoryPath: './${SHOOT_LABEL_stage}' },
      'repositoryPath uses ${"SHOOT_LABEL_stage:-dev"}, but "stage:-dev" is not the key of a label; write only the key, and set the field for Shoots without the label in overrides.yaml':
        { repositoryPath: './${SHOOT_LABEL_stage:-dev}' },
      'repositoryPath uses ${SHOOT_DOMAIN}, which is not known of this Shoot; use another variable, or set the field for such Shoots in overrides.yaml':
        { repositoryPath: './${SHOOT_DOMAIN}' },
      'repositoryCommit "abc" is not a full commit ID; use all 40 digits, as git rev-parse HEAD prints them': {
        repositoryCommit: '${SHOOT_LABEL_commit}',
      },
    }),
  )('reject: %s', (sentence, data) => {
    expect(problems(withKeys({ ...repository, ...data }, { commit: 'abc' }))).toEqual([`${object}: ${sentence}`]);
  });

  it.each([
    { kind: 'Kustomization', spec: { path: './${SHOOT_NAM}' } },
    { kind: 'GitRepository', spec: { url: 'https://git.example.com/fleet', ref: { branch: '${SHOOT_NAM}' } } },
  ])('reject an unknown name in an object, whatever the Shoot: $kind', (object) => {
    const inputs = withConfig({ objects: [{ ...object, metadata: { name: 'a' } }] });
    for (const one of [inputs, { ...inputs, shoot: shoot() }]) {
      expect(problems(one)).toEqual([expect.stringContaining('which is not a variable; did you mean SHOOT_NAME?')]);
    }
  });
});

describe('a label of a Shoot cannot', () => {
  const url = 'https://git.example.com/${SHOOT_LABEL_x}/fleet';

  it.each([
    ...['../../other', 'a/b', 'a@evil.example', 'a:b', 'a?b', 'a#b', 'a%2e', '..', 'a..b', '$' + '{SHOOT_NAME}'],
    ...['a b', 'ä', '\\', '.a', '-a'],
  ])('bring %j into a URL or a path', (x) => {
    expect(problems(withKeys({ repositoryUrl: url }, { x }))).toEqual([
      expect.stringContaining("letters, digits, '.', '_' and '-'"),
    ]);
    expect(problems(withKeys({ ...repository, repositoryPath: './a/${SHOOT_LABEL_x}' }, { x }))).toHaveLength(1);
  });

  it.each([
    'https://${SHOOT_LABEL_x}/org/fleet',
    'https://git.${SHOOT_LABEL_x}/org/fleet',
    'https://git.example.com:${SHOOT_LABEL_x}/org/fleet',
    'https://${SHOOT_LABEL_x}@git.example.com/org/fleet',
    '${SHOOT_LABEL_x}://git.example.com/org/fleet',
    '${SHOOT_LABEL_x}',
    'https://git.example.com${SHOOT_LABEL_x}/fleet',
    'ssh://git@${SHOOT_LABEL_x}/fleet',
    'git@${SHOOT_LABEL_x}:org/fleet',
    'https:///${SHOOT_LABEL_x}/fleet',
    'https:/${SHOOT_LABEL_x}/fleet',
  ])('choose the host of %s', (repositoryUrl) => {
    const found = problems(withKeys({ repositoryUrl, repositoryType: 'private' }, { x: 'evil.example' }));
    expect(found).toEqual([expect.stringMatching(/^ConfigMap garden-foo\/flux-config: repositoryUrl /)]);
    const ofShoot = { shoot: shoot({ x: 'evil.example' }) };
    for (const template of [
      gitRepository({ url: repositoryUrl }),
      ociRepository({ url: repositoryUrl.replace(/^https/, 'oci') }),
    ]) {
      expect(problems({ ...withTemplates(template), ...ofShoot }).join()).toContain('source.template.spec.url');
      const listed = withConfig({ objects: [{ ...template, metadata: { name: 'a' } }] });
      // Also where the Shoot is not known yet.
      for (const inputs of [listed, { ...listed, ...ofShoot }]) {
        expect(problems(inputs)).toEqual([expect.stringContaining('providerConfig: objects[0].spec.url ')]);
      }
    }
  });

  it('reach what the policy refuses', () => {
    const policy = { allowedRepositoryUrls: ['https://git.example.com/blue/**'] };
    expect(problems({ ...withKeys({ repositoryUrl: url }, { x: 'blue' }), landscape: { policy } })).toEqual([]);
    expect(problems({ ...withKeys({ repositoryUrl: url }, { x: 'red' }), landscape: { policy } })).toEqual([
      `${object}: repositoryUrl "https://git.example.com/red/fleet" is not allowed by allowedRepositoryUrls in the policy of this landscape; use https://git.example.com/blue/**`,
    ]);
  });
});

describe('what looks like a variable does not hide a URL from the policy', () => {
  const policy = { allowedRepositoryUrls: ['https://git.example.com/**'] };
  const refused = 'allowedRepositoryUrls in the policy of this landscape';

  it('in the keys', () => {
    const inputs = withKeys({ repositoryUrl: 'https://evil.example/$${SHOOT_NAME}' });
    expect(problems({ ...inputs, landscape: { policy } }).join()).toContain(refused);
  });

  it.each([
    { kind: 'HelmRepository', spec: { url: 'https://evil.example/${SHOOT_NAME}' } },
    { kind: 'GitRepository', spec: { url: 'https://evil.example/$${SHOOT_NAME}', ref: { branch: 'main' } } },
  ])('in objects: $kind', (object) => {
    const inputs = withConfig({ objects: [{ ...object, metadata: { name: 'a' } }] });
    expect(problems({ ...inputs, shoot: shoot(), landscape: { policy } }).join()).toContain(refused);
  });
});

it.each([
  'ssh://git@git.example.com/org/${SHOOT_NAME}',
  'git@git.example.com:org/${SHOOT_NAME}',
  'git@git.example.com:/org/${SHOOT_NAME}',
])('the host of a URL with variables is known: %s', (repositoryUrl) => {
  const config = effectiveConfig(withKeys({ repositoryUrl, repositoryType: 'private' }));
  expect(config.source?.spec).toMatchObject({ url: 'ssh://git@git.example.com/org/bar' });
});
