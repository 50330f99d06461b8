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
    ready: { good: [all] },
    AuthenticationFailed: {
      anonymous: [anonymous, 'put .dockerconfigjson with pull access into a new Secret'],
      password: [{ ...all, ...secretRef('wrong-registry') }, 'the original of Secret flux-system/wrong-registry'],
    },
    CredentialsMissing: {
      'no-secret': [{ ...all, ...secretRef('none') }, 'create the original of Secret flux-system/none'],
      'no-authority': [{ ...all, certSecretRef: { name: 'none' } }, 'copy it there with additionalSecretResources'],
    },
    CertificateNotTrusted: { authority: [untrusting, 'objects[1].spec.certSecretRef'] },
    RepositoryNotFound: { unknown: [{ ...all, image: `${registry}/nothing` }, 'the registry has no such image'] },
    UrlInvalid: {
      letters: [{ ...all, image: `${registry}/Fleet` }, 'its image is not a valid name'],
      tagged: [{ ...all, image: `${registry}/fleet:v1` }, 'its image ends with the tag :v1'],
    },
    ConnectionRefused: {
      refused: [{ ...all, image: `${closed}/fleet` }, 'check port and protocol in objects[1].spec.image'],
    },
    ServiceAccountMissing: {
      account: [{ ...anonymous, serviceAccountName: 'none' }, 'ServiceAccount flux-system/none'],
    },
  });
}

function imagePolicies(): FailingObject[] {
  const of = (name: string, policy: object, more: object = {}) => ({ imageRepositoryRef: { name }, policy, ...more });
  const semver = (range: string) => ({ semver: { range } });
  return failing('ImagePolicy', {
    SourceMissing: { 'no-repository': [of('none', semver('1.x')), 'ImageRepository none does not exist'] },
    SourceNotReady: { waits: [of('anonymous', semver('1.x')), 'check the ImageRepository'] },
    RevisionNotFound: { 'no-tag': [of('good', semver('9.x')), 'no tag of the image fits'] },
    RevisionInvalid: {
      range: [of('good', semver('>>9')), 'correct policy.semver.range in objects[1].spec'],
      pattern: [of('good', semver('1.x'), { filterTags: { pattern: '(' } }), 'filterTags.pattern'],
      number: [of('good', { numerical: {} }), 'tag v1 is not a number'],
      choice: [of('good', {}), 'it does not say how to choose a tag'],
    },
  });
}

function receivers(): FailingObject[] {
  const all = { type: 'generic', resources: [{ kind: 'GitRepository', name: 'good' }] };
  return failing('Receiver', {
    CredentialsMissing: {
      'no-secret': [{ ...all, ...secretRef('none') }, 'create the original of Secret flux-system/none'],
    },
    CredentialsIncomplete: { 'no-token': [{ ...all, ...secretRef('authority') }, 'its Secret has no key token'] },
    ExpressionInvalid: {
      filter: [{ ...all, ...secretRef('token'), resourceFilter: 'res.(' }, 'correct resourceFilter'],
    },
  });
}
