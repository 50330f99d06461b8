import { type FailingObject, failing, HOUR, type Servers, secretRef, TRUSTED } from './object.ts';

/** Objects that image-reflector-controller and notification-controller cannot make Ready. */
export function failingOthers(servers: Servers): FailingObject[] {
  return [...imageRepositories(servers), ...imagePolicies(), ...receivers()];
}

function imageRepositories({ registry, closed }: Servers): FailingObject[] {
  const all = { ...HOUR, ...TRUSTED, ...secretRef('registry'), image: `${registry}/fleet` };
  const { certSecretRef: _, ...untrusting } = all;
  const { secretRef: __, ...anonymous } = all;
  return failing('ImageRepository', {
    good: [all],
    anonymous: [anonymous, 'AuthenticationFailed', 'put .dockerconfigjson with pull access into a new Secret'],
    password: [
      { ...all, ...secretRef('wrong-registry') },
      'AuthenticationFailed',
      'the original of Secret flux-system/wrong-registry',
    ],
    'no-secret': [
      { ...all, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ],
    'no-authority': [
      { ...all, certSecretRef: { name: 'none' } },
      'CredentialsMissing',
      'copy it there with additionalSecretResources',
    ],
    authority: [untrusting, 'CertificateNotTrusted', 'objects[1].spec.certSecretRef'],
    unknown: [{ ...all, image: `${registry}/nothing` }, 'RepositoryNotFound', 'the registry has no such image'],
    letters: [{ ...all, image: `${registry}/Fleet` }, 'UrlInvalid', 'its image is not a valid name'],
    tagged: [{ ...all, image: `${registry}/fleet:v1` }, 'UrlInvalid', 'its image ends with the tag :v1'],
    refused: [
      { ...all, image: `${closed}/fleet` },
      'ConnectionRefused',
      'check port and protocol in objects[1].spec.image',
    ],
    account: [{ ...anonymous, serviceAccountName: 'none' }, 'ServiceAccountMissing', 'ServiceAccount flux-system/none'],
  });
}

function imagePolicies(): FailingObject[] {
  const of = (name: string, policy: object, more: object = {}) => ({ imageRepositoryRef: { name }, policy, ...more });
  const semver = (range: string) => ({ semver: { range } });
  return failing('ImagePolicy', {
    'no-repository': [of('none', semver('1.x')), 'SourceMissing', 'ImageRepository none does not exist'],
    waits: [of('anonymous', semver('1.x')), 'SourceNotReady', 'check the ImageRepository'],
    'no-tag': [of('good', semver('9.x')), 'RevisionNotFound', 'no tag of the image fits'],
    range: [of('good', semver('>>9')), 'RevisionInvalid', 'correct policy.semver.range in objects[1].spec'],
    pattern: [of('good', semver('1.x'), { filterTags: { pattern: '(' } }), 'RevisionInvalid', 'filterTags.pattern'],
    number: [of('good', { numerical: {} }), 'RevisionInvalid', 'tag v1 is not a number'],
    choice: [of('good', {}), 'RevisionInvalid', 'it does not say how to choose a tag'],
  });
}

function receivers(): FailingObject[] {
  const all = { type: 'generic', resources: [{ kind: 'GitRepository', name: 'good' }] };
  return failing('Receiver', {
    'no-secret': [
      { ...all, ...secretRef('none') },
      'CredentialsMissing',
      'create the original of Secret flux-system/none',
    ],
    'no-token': [{ ...all, ...secretRef('authority') }, 'CredentialsIncomplete', 'its Secret has no key token'],
    filter: [{ ...all, ...secretRef('token'), resourceFilter: 'res.(' }, 'ExpressionInvalid', 'correct resourceFilter'],
  });
}
