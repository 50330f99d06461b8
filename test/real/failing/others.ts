import { type FailingObject, failing, HOUR, type Servers, secretRef, TRUSTED } from './object.ts';

/** Objects that image-reflector-controller and notification-controller cannot make Ready. */
export function failingOthers(servers: Servers): FailingObject[] {
  return [...imageRepositories(servers), ...imagePolicies(), ...receivers()];
}

function imageRepositories({ registry, closed }: Servers): FailingObject[] {
  const failed = failing('ImageRepository');
  const all = { ...HOUR, ...TRUSTED, ...secretRef('registry'), image: `${registry}/fleet` };
  const { certSecretRef: _, ...untrusting } = all;
  const { secretRef: __, ...anonymous } = all;
  return [
    failed('good', all),
    failed('anonymous', anonymous, 'AuthenticationFailed', 'put .dockerconfigjson with pull access into a new Secret'),
    failed(
      'password',
      { ...all, ...secretRef('wrong-registry') },
      'AuthenticationFailed',
      'the original of Secret flux-system/wrong-registry',
    ),
    failed(
      'no-secret',
      { ...all, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ),
    failed(
      'no-authority',
      { ...all, certSecretRef: { name: 'none' } },
      'CredentialsMissing',
      'copy it there with additionalSecretResources',
    ),
    failed('authority', untrusting, 'CertificateNotTrusted', 'objects[1].spec.certSecretRef'),
    failed('unknown', { ...all, image: `${registry}/nothing` }, 'RepositoryNotFound', 'the registry has no such image'),
    failed('letters', { ...all, image: `${registry}/Fleet` }, 'UrlInvalid', 'its image is not a valid name'),
    failed('tagged', { ...all, image: `${registry}/fleet:v1` }, 'UrlInvalid', 'its image ends with the tag :v1'),
    failed(
      'refused',
      { ...all, image: `${closed}/fleet` },
      'ConnectionRefused',
      'check port and protocol in objects[1].spec.image',
    ),
    failed(
      'account',
      { ...anonymous, serviceAccountName: 'none' },
      'ServiceAccountMissing',
      'ServiceAccount flux-system/none',
    ),
  ];
}

function imagePolicies(): FailingObject[] {
  const failed = failing('ImagePolicy');
  const of = (name: string, policy: object, more: object = {}) => ({ imageRepositoryRef: { name }, policy, ...more });
  const semver = (range: string) => ({ semver: { range } });
  return [
    failed('no-repository', of('none', semver('1.x')), 'SourceMissing', 'ImageRepository none does not exist'),
    failed('waits', of('anonymous', semver('1.x')), 'SourceNotReady', 'check the ImageRepository'),
    failed('no-tag', of('good', semver('9.x')), 'RevisionNotFound', 'no tag of the image fits'),
    failed('range', of('good', semver('>>9')), 'RevisionInvalid', 'correct policy.semver.range in objects[1].spec'),
    failed(
      'pattern',
      of('good', semver('1.x'), { filterTags: { pattern: '(' } }),
      'RevisionInvalid',
      'filterTags.pattern',
    ),
    failed('number', of('good', { numerical: {} }), 'RevisionInvalid', 'tag v1 is not a number'),
    failed('choice', of('good', {}), 'RevisionInvalid', 'it does not say how to choose a tag'),
  ];
}

function receivers(): FailingObject[] {
  const failed = failing('Receiver');
  const all = { type: 'generic', resources: [{ kind: 'GitRepository', name: 'good' }] };
  return [
    failed(
      'no-secret',
      { ...all, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ),
    failed('no-token', { ...all, ...secretRef('authority') }, 'CredentialsIncomplete', 'its Secret has no key token'),
    failed(
      'filter',
      { ...all, ...secretRef('token'), resourceFilter: 'res.(' },
      'ExpressionInvalid',
      'correct resourceFilter',
    ),
  ];
}
