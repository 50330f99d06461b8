import type { Examples } from '../examples.testing.ts';
import { automation, imagePolicy, imageRepository, listed } from '../examples.testing.ts';

export const imageExamples: Examples[] = [
  [
    imageRepository,
    listed,
    {
      'auth for "ghcr.io" not found in secret flux-system/registry':
        'CredentialsIncomplete: ImageRepository flux-system/app: its Secret has no credentials for ghcr.io; add the registry to the original of Secret flux-system/registry',
      'scan failed: GET https://ghcr.io/token?scope=repository:org/app:pull&service=ghcr.io: DENIED: denied':
        'AuthenticationFailed: put .dockerconfigjson with read access into the original of Secret flux-system/registry',
      'scan failed: GET https://ghcr.io/v2/org/app/tags/list?n=1000: NAME_UNKNOWN: repository name not known to registry':
        'RepositoryNotFound: the registry has no such image; push it, or correct image in objects[1].spec of the providerConfig',
      'could not parse reference: ghcr.io/Org/app':
        'UrlInvalid: its image is not a valid name; correct image in objects[1].spec of the providerConfig',
      "image 'ghcr.io/org/app:v1' should not include a tag; remove ':v1'":
        'UrlInvalid: its image ends with the tag :v1; remove it from image in objects[1].spec of the providerConfig',
      'scan failed: Get "https://ghcr.io/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority; Get "http://ghcr.io/v2/": EOF':
        'CertificateNotTrusted: the certificate of ghcr.io is not signed by a trusted authority; add the certificate of its authority as ca.crt to a new Secret that you reference as objects[1].spec.certSecretRef of the providerConfig',
      'failed to configure authentication options: secrets "registry" not found':
        'CredentialsMissing: create the original of Secret flux-system/registry, or correct objects[1].spec.secretRef',
      'failed to configure authentication options: secrets "registry-ca" not found':
        'CredentialsMissing: Secret registry-ca does not exist in the shoot; copy it there with additionalSecretResources, or correct the reference in objects[1].spec of the providerConfig',
    },
  ],
  [
    imagePolicy,
    listed,
    {
      'failed to get the referred ImageRepository: referenced ImageRepository does not exist: ImageRepository.image.toolkit.fluxcd.io "app" not found':
        'SourceMissing: ImageRepository app does not exist in the shoot; create it, or correct imageRepositoryRef in objects[1].spec',
      'referenced ImageRepository has not been scanned yet':
        'SourceNotReady: its ImageRepository has found no tags yet; check the ImageRepository',
      'version list argument cannot be empty':
        'RevisionNotFound: no tag of the image fits; push one that does, or correct policy and filterTags in objects[1].spec',
      'invalid policy: improper constraint: >>9':
        'RevisionInvalid: >>9 is not a valid version range; correct policy.semver.range in objects[1].spec',
      "failed to filter tags: invalid regular expression pattern '(': error parsing regexp: missing closing ): `(`":
        'RevisionInvalid: ( is not a valid regular expression; correct filterTags.pattern in objects[1].spec of the providerConfig',
      "failed to parse invalid numeric value 'v1'":
        'RevisionInvalid: tag v1 is not a number; exclude it or extract its number with filterTags',
      'invalid policy: given ImagePolicyChoice object is invalid':
        'RevisionInvalid: set semver, alphabetical or numerical of policy in objects[1].spec of the providerConfig',
    },
  ],
  [
    automation,
    listed,
    {
      'failed to get source: GitRepository.source.toolkit.fluxcd.io "fleet" not found':
        'SourceMissing: GitRepository fleet does not exist in the shoot; create it, or correct sourceRef in objects[1].spec',
      'failed to push to remote: authorization failed: Write access to repository not granted.':
        'PushRefused: give the credentials of the GitRepository write access, or push to another branch with git.push in objects[1].spec',
    },
  ],
];
