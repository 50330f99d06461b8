import {
  bucket,
  charts,
  checkout,
  deployKey,
  type Examples,
  flux,
  fluxConfig,
  gitRepository,
  https,
  imageRepository,
  listed,
  oci,
  open,
  overHttps,
  overSsh,
  providerConfig,
  released,
  ssh,
} from '../examples.testing.ts';

export const repositoryExamples: Examples[] = [
  [
    oci,
    providerConfig,
    {
      'failed to determine artifact digest: GET https://ghcr.io/token?scope=repository:org/fleet:pull&service=ghcr.io: DENIED: denied':
        [
          'AuthenticationFailed: OCIRepository flux-system/fleet: the registry does not allow Flux to pull oci://ghcr.io/org/fleet; put .dockerconfigjson',
          'into the Secret that source.secretResourceName of the providerConfig refers to',
        ],
      "failed to determine the artifact tag for 'oci://ghcr.io/org/fleet': semver '>>9' parse error: improper constraint: >>9":
        'RevisionInvalid: >>9 is not a valid version range; correct source.template.spec.ref',
      "failed to pull artifact from 'oci://ghcr.io/org/fleet': GET https://ghcr.io/v2/org/fleet/manifests/6.0.0: MANIFEST_UNKNOWN: manifest unknown":
        'RevisionNotFound: the registry has no such artifact at oci://ghcr.io/org/fleet; push it, or correct source.template.spec.url',
      'failed to extract layer contents from artifact: gzip: invalid header': 'ArtifactUnusable: flux push artifact',
      "URL validation failed for 'oci://ghcr.io/org/fleet:v1': URL must not contain a tag; remove ':v1'":
        'UrlInvalid: correct source.template.spec.url of the providerConfig',
    },
  ],
  [
    bucket,
    providerConfig,
    {
      "failed to confirm existence of 'fleet' bucket: Access Denied.":
        'AuthenticationFailed: s3.example.com does not allow Flux to read the bucket; put accesskey and secretkey',
      "bucket 'fleet' not found":
        'RepositoryNotFound: bucket fleet does not exist; correct bucketName or endpoint in source.template.spec of the providerConfig',
    },
  ],
  [
    overHttps,
    fluxConfig,
    {
      [`${checkout} clone '${https}': authentication required`]: [
        `AuthenticationFailed: ${https} cannot be read with these credentials, or does not exist; `,
        'repositoryUrl in ConfigMap flux-config',
        'put username and password (a token), or bearerToken, with read access into Secret flux-source',
      ],
      [`${checkout} clone '${https}': object not found`]:
        'CheckoutFailed: branch main of https://git.example.com/org/fleet cannot be checked out;',
      [`${checkout} list remote for '${https}': invalid pkt-len found`]:
        'NoGitServer: does not respond like a Git server (it may be a login page); correct repositoryUrl',
      [`${checkout} list remote for '${https}': unexpected client error: unexpected requesting "${https}/info/refs?service=git-upload-pack" status code: 400`]:
        'NoGitServer: does not respond like a Git server (it may be a login page); correct repositoryUrl in ConfigMap flux-config.',
      [`${checkout} list remote for '${https}': http redirect: target "/login" does not end with /info/refs`]:
        'NoGitServer: correct repositoryUrl',
      [`${checkout} resolve ref 'main' to a specific commit`]: 'RevisionNotFound: has no branch main; push it',
      'failed to create temporary working directory: mkdir /tmp/gitrepository: no space left on device':
        'StorageFull: .sourceignore',
      'unable to archive artifact to storage: open /data/gitrepository/x: permission denied':
        'StorageFailed: source-controller cannot store the artifact; check its log',
    },
  ],
  [
    open,
    fluxConfig,
    {
      [`${checkout} clone '${https}': authentication required: Repository not found.`]:
        'AuthenticationFailed: set repositoryType in ConfigMap flux-config to private',
      [`git repository not found: unable to clone: couldn't find remote ref 'refs/tags/v1': git repository: '${https}'`]:
        'RevisionNotFound: has no tag v1; push it, or correct repositoryTag in ConfigMap flux-config',
      'git repository is empty': 'RepositoryEmpty: push tag v1',
    },
  ],
  [
    overHttps,
    providerConfig,
    {
      [`${checkout} list remote for '${https}': authorization failed`]:
        'AuthenticationFailed: bearerToken, with read access into the Secret that source.secretResourceName',
      "no artifact available for include 'other'": 'IncludeNotReady: the included GitRepository other',
      'could not get resource for include \'other\': gitrepositories.source.toolkit.fluxcd.io "other" not found': [
        'IncludeFailed: GitRepository other cannot be included',
        'correct include in source.template.spec of the providerConfig',
      ],
      'failed to sparse checkout directories : lstat /tmp/gitrepository-1/apps: no such file or directory':
        'PathNotFound: correct sparseCheckout',
      'failed to verify the signature using provider \'cosign keyless\': Get "https://rekor.sigstore.dev": context deadline exceeded':
        'VerificationFailed: the service that verifies the signature does not respond; allow the shoot to reach it',
      'failed to verify the signature of commit: unable to verify commit with any of the given key rings':
        'VerificationFailed: correct verify in source.template.spec of the providerConfig',
    },
  ],
  [
    open,
    released,
    {
      [`${checkout} clone '${https}': authentication required`]:
        'AuthenticationFailed: a new Secret in the shoot that you reference as spec.secretRef of GitRepository flux-system/main-gitrepo',
    },
  ],
  [
    overSsh,
    fluxConfig,
    {
      [`${checkout} clone '${ssh}': couldn't find remote ref "refs/heads/main"`]: `RevisionNotFound: ${ssh} has no branch main; push it, or correct repositoryBranch in ConfigMap flux-config`,
      [`${checkout} clone '${ssh}': unknown error: ERROR: The project you were looking for could not be found or you don't have permission to view it.`]:
        ['RepositoryNotFound: or these credentials cannot see it', deployKey],
    },
  ],
  [
    gitRepository({ url: `${https}.git?ref=main`, ref: { branch: 'main' } }),
    fluxConfig,
    {
      [`${checkout} list remote for '${https}.git?ref=main': invalid pkt-len found`]:
        'NoGitServer: remove everything from the ? on from repositoryUrl in ConfigMap flux-config.',
    },
  ],
  [
    gitRepository({ url: https, ref: { semver: '>=9' } }),
    fluxConfig,
    {
      'failed to checkout and determine revision: no match found for semver: >=9':
        'RevisionNotFound: has no version >=9; push it, or correct repositorySemver',
    },
  ],
  [
    gitRepository({ url: https, ref: { commit: '9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c' } }),
    released,
    {
      "failed to checkout and determine revision: unable to resolve commit object for '9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c': object not found":
        'RevisionNotFound: correct spec.ref of GitRepository flux-system/main-gitrepo in the shoot',
    },
  ],
  [
    open,
    providerConfig,
    {
      [`${checkout} clone '${https}': repository not found: git repository: '${https}'`]: [
        'RepositoryNotFound: correct source.template.spec.url of the providerConfig',
        'a new Secret that you reference as source.secretResourceName',
      ],
    },
  ],
];

const github = 'https://github.com/org/fleet';
const app = { url: github, provider: 'github', secretRef: { name: 'flux-source' } };
const plain = { url: github, secretRef: { name: 'flux-source' } };
const s3 = (spec: object) => flux('source', 'Bucket', 'fleet', { endpoint: 's3.example.com', ...spec });
const denied = "failed to confirm existence of 'fleet' bucket: Access Denied.";
const allowList =
  'authorization failed: The repository owner has an IP allow list enabled, and 203.0.113.7 is not permitted to access this repository.';

/** Credentials that depend on what the configuration has. */
export const accessExamples: Examples[] = [
  [
    gitRepository(plain),
    fluxConfig,
    {
      [`${checkout} list remote for '${github}': ${allowList}`]: `AuthenticationFailed: the owner of ${github} does not let in the address of the shoot; add the addresses`,
      [`${checkout} list remote for '${github}': authorization failed: The 'org' organization has enabled or enforced SAML SSO.`]: `AuthenticationFailed: the owner of ${github} requires single sign-on; authorize the token or key in Secret flux-source in the project's namespace`,
    },
  ],
  [
    oci,
    providerConfig,
    {
      'failed to determine artifact digest: GET https://ghcr.io/token: DENIED: Resource protected by organization SAML enforcement. You must grant your OAuth token access to this organization.':
        'AuthenticationFailed: requires single sign-on; authorize the token or key in the Secret that source.secretResourceName',
      'failed to determine artifact digest: GET https://index.docker.io/v2/: TOOMANYREQUESTS: limit':
        'RateLimited: too many; raise source.template.spec.interval of the providerConfig.',
    },
  ],
  [
    imageRepository,
    listed,
    {
      'scan failed: GET https://ghcr.io/token: DENIED: Resource protected by organization SAML enforcement.':
        'AuthenticationFailed: requires single sign-on; authorize the token or key in the original of Secret flux-system/registry',
      [`scan failed: GET https://ghcr.io/v2/: ${allowList}`]: 'AuthenticationFailed: does not let in the address',
    },
  ],
  [
    open,
    fluxConfig,
    {
      [`${checkout} clone '${https}': Get "${https}": tls: failed to verify certificate: x509: certificate signed by unknown authority`]:
        "CertificateNotTrusted: add the certificate of its authority as ca.crt to Secret flux-source in the project's namespace, and set repositoryType in ConfigMap flux-config to private",
    },
  ],
  [
    gitRepository(app),
    fluxConfig,
    {
      [`${checkout} clone '${github}': authentication required: Repository not found.`]:
        "AuthenticationFailed: check the GitHub App in Secret flux-source in the project's namespace, and that it is installed on the repository",
    },
  ],
  [
    gitRepository({ url: 'https://dev.azure.com/org/project/_git/fleet', provider: 'azure' }),
    providerConfig,
    {
      [`${checkout} clone 'https://dev.azure.com/org/project/_git/fleet': authorization failed`]:
        'AuthenticationFailed: give the identity that Flux has with provider azure read access',
    },
  ],
  [
    s3({ provider: 'aws' }),
    listed,
    { [denied]: 'AuthenticationFailed: give the identity that Flux has with provider aws' },
  ],
  [
    s3({ provider: 'azure', secretRef: { name: 's3' } }),
    listed,
    {
      [denied]:
        'AuthenticationFailed: put accountKey or sasKey with read access into the original of Secret flux-system/s3',
    },
  ],
  [
    s3({ provider: 'gcp', secretRef: { name: 's3' } }),
    listed,
    {
      [denied]: 'AuthenticationFailed: put serviceaccount with read access into the original of Secret flux-system/s3',
    },
  ],
  [
    flux('source', 'HelmRepository', 'charts', { url: 'https://charts.example.com', secretRef: { name: 'login' } }),
    listed,
    {
      'failed to fetch Helm repository index: failed to fetch https://charts.example.com/index.yaml : 401 Unauthorized':
        'AuthenticationFailed: put username and password with read access into the original of Secret flux-system/login',
    },
  ],
];

export const chartRepositoryExamples: Examples[] = [
  [
    charts,
    providerConfig,
    {
      'failed to fetch Helm repository index: failed to cache index to temporary file: failed to fetch https://charts.example.com/index.yaml : 401 Unauthorized':
        'AuthenticationFailed: the server does not allow Flux to read the charts at https://charts.example.com; put username and password',
      'failed to fetch Helm repository index: failed to cache index to temporary file: failed to fetch https://charts.example.com/index.yaml : 404 Not Found':
        'RepositoryNotFound: there is no repository of charts at https://charts.example.com; correct source.template.spec.url of the providerConfig',
      'failed to fetch Helm repository index: failed to cache index to temporary file: index exceeds the maximum index file size of 52428800 bytes':
        'ArtifactUnusable: the index of the repository is larger than 52428800 bytes, which source-controller reads at most',
      'failed to load Helm repository from index YAML: failed to load index: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal string into Go value of type repo.IndexFile':
        'ArtifactUnusable: does not respond like a repository of charts',
      "invalid Helm repository URL: 'oci' URL scheme cannot be used with 'default' HelmRepository type":
        'UrlInvalid: set type to oci in source.template.spec of the providerConfig',
    },
  ],
];
