import { type Failure, ofKind } from '../remedies.ts';

/** Right credentials that the owner of a repository or registry does not accept from the shoot, or not yet. */
export const ownerFailures: Failure[] = [
  {
    reason: 'AuthenticationFailed',
    matches:
      /\bIP (?:allow|white) ?list|IP address.{0,80}(?:not|n't) (?:allowed|permitted)|(?:allow|white)listed IP|conditional access policy/i,
    what: 'the owner of {url} does not let in the address of the shoot',
    remedy: 'add the addresses from which the shoot leaves its network to the allow list of the owner',
  },
  {
    reason: 'AuthenticationFailed',
    matches: /SAML (?:SSO|enforcement)|single sign-on|SSO (?:authoriz|required)/i,
    what: 'the owner of {url} requires single sign-on',
    remedy: (_, { secretName, secret, credentials }) =>
      secretName === undefined
        ? credentials
        : `authorize the token or key in ${secret} for single sign-on, in the settings of its user at the host`,
  },
];

/**
 * Repositories, registries and buckets: access to them, their revisions and folders, verifying what was fetched, and
 * storing it in source-controller.
 */
export const repositoryFailures: Failure[] = [
  ...ownerFailures,
  {
    reason: 'AuthenticationFailed',
    kind: 'OCIRepository',
    matches: /\bDENIED\b|\bUNAUTHORIZED\b|\b401 Unauthorized\b|\b403 Forbidden\b|status code 40[13]\b/i,
    what: 'the registry does not allow Flux to pull {url}',
    remedy: '{credentials}',
  },
  {
    reason: 'RevisionInvalid',
    matches: /semver '([^']+)' parse error|improper constraint: (\S+)/,
    what: ([, range, other]) => `${range ?? other} is not a valid version range`,
    remedy: 'correct {places.revision}',
  },
  {
    reason: 'RevisionNotFound',
    kind: 'OCIRepository',
    matches: /MANIFEST_UNKNOWN|NAME_UNKNOWN|status code 404|\b404 Not Found\b|no match found for semver/,
    what: 'the registry has no such artifact at {url}',
    remedy: 'push it, or correct {places.url} or {places.revision}',
  },
  {
    reason: 'ArtifactUnusable',
    kind: 'OCIRepository',
    matches:
      /failed to extract layer|failed to find layer|layer.{0,500}not found|failed to parse artifact manifest|no layers/i,
    what: 'the artifact at {url} has no layer that Flux can read',
    remedy: 'push it with "flux push artifact", or set layerSelector in {places.template}',
  },
  {
    reason: 'AuthenticationFailed',
    kind: 'Bucket',
    matches:
      /Access Denied|AccessDenied|InvalidAccessKeyId|Access Key Id you provided|SignatureDoesNotMatch|signature we calculated|AuthorizationFailure|\b403\b/i,
    what: '{host} does not allow Flux to read the bucket',
    remedy: '{credentials}',
  },
  {
    reason: 'RepositoryNotFound',
    kind: 'Bucket',
    matches: /bucket '([^']+)' (?:not found|does not exist)|specified bucket does not exist|NoSuchBucket/i,
    what: ([, name]) => (name === undefined ? 'the bucket does not exist' : `bucket ${name} does not exist`),
    remedy: 'correct bucketName or endpoint in {places.template}',
  },
  ...ofKind('GitRepository', [
    {
      reason: 'AuthenticationFailed',
      matches: /authentication required|authorization failed|invalid credentials|status code: 40[13]\b/i,
      // Hosting sites give the same answer for missing repositories, to hide which ones exist.
      what: '{url} cannot be read with these credentials, or does not exist',
      remedy: 'check {places.url}; if it is correct, {credentials}',
    },
    {
      reason: 'RevisionNotFound',
      matches:
        /couldn't find remote ref|no match found for semver|unable to resolve (?:commit object for|ref ')|reference not found/,
      what: '{url} has no {revision}',
      remedy: 'push it, or correct {places.revision}',
    },
    {
      reason: 'RepositoryNotFound',
      matches:
        /repository not found|does not appear to be a git repository|status code: 404\b|could not be found or you don't have permission|does not exist or you do not have|cannot find repository/i,
      what: 'the repository {url} does not exist, or these credentials cannot see it',
      remedy: 'correct {places.url}, or {credentials}',
    },
    {
      reason: 'RepositoryEmpty',
      matches: /(?:git|remote) repository is empty/,
      what: 'the repository {url} is empty',
      remedy: 'push {revision}',
    },
    {
      reason: 'CheckoutFailed',
      matches: /: (?:object not found|entry not found|unsupported object type|worktree contains unstaged changes)/,
      what: '{revision} of {url} cannot be checked out',
      remedy: 'check that "git clone" works with it, and push it again',
    },
    {
      reason: 'NoGitServer',
      matches: /invalid pkt-len|http redirect: target|unexpected requesting .{0,500} status code: 4\d\d/s,
      what: 'the server at {url} does not respond like a Git server (it may be a login page)',
      remedy: (_, { url, places }) =>
        /[?#]/.test(url)
          ? `remove everything from the ${url.includes('?') ? '?' : '#'} on from ${places.url}`
          : `correct ${places.url}`,
    },
    {
      reason: 'IncludeNotReady',
      matches: /no artifact available for include '([^']+)'/,
      what: 'the included GitRepository $1 has no artifact yet',
      remedy: 'check its conditions',
      isTransient: true,
    },
    {
      reason: 'IncludeFailed',
      matches: /(?:could not get resource for include|failed to copy|path calculation for include) '([^']+)'/,
      what: 'GitRepository $1 cannot be included',
      remedy: 'check that it exists and contains the folder, or correct include in {places.template}',
    },
    {
      reason: 'PathNotFound',
      matches: /failed to sparse checkout directories/,
      what: 'the repository does not contain all folders of sparseCheckout',
      remedy: 'create them, or correct sparseCheckout in {places.template}',
    },
  ]),
  {
    reason: 'VerificationFailed',
    matches: /failed to verify.{0,500}(?:timeout|deadline exceeded|connection refused|reset by peer|\bEOF)/is,
    what: 'the service that verifies the signature does not respond',
    remedy: 'allow the shoot to reach it',
  },
  {
    reason: 'VerificationFailed',
    matches:
      /failed to verify (?:the )?signature|signature verification|(?:unable to|cannot) verify|no matching signatures|verification failed/i,
    what: 'the signature is not from a trusted key',
    remedy: 'sign the revision, or correct verify in {places.template}',
  },
  {
    reason: 'UrlInvalid',
    matches:
      /failed to parse url|URL validation failed|invalid URL|unsupported protocol scheme|unknown transport|first path segment in URL|unsupported scheme/i,
    what: 'the URL is invalid',
    remedy: 'correct {places.url}',
  },
  {
    reason: 'StorageFull',
    matches: /no space left on device/,
    what: 'source-controller has no space left for artifacts',
    remedy: 'exclude files with .sourceignore in the repository, or enlarge the volume of the controller',
  },
  {
    reason: 'StorageFailed',
    matches:
      /artifact to storage|failed to create artifact directory|failed to create temporary working directory|failed to acquire lock for artifact|target artifact path/,
    what: 'source-controller cannot store the artifact',
    remedy: 'check its log and its volume /data in the shoot',
  },
];

/** Repositories of charts that are not OCI registries: Flux fetches their index. */
export const chartRepositoryFailures = ofKind('HelmRepository', [
  {
    reason: 'AuthenticationFailed',
    matches: /failed to fetch \S+ : 40[13]\b/,
    what: 'the server does not allow Flux to read the charts at {url}',
    remedy: '{credentials}',
  },
  {
    reason: 'RepositoryNotFound',
    matches: /failed to fetch \S+ : 404\b/,
    what: 'there is no repository of charts at {url}',
    remedy: 'correct {places.url}',
  },
  {
    reason: 'ArtifactUnusable',
    matches: /failed to load Helm repository from index/,
    what: 'the server at {url} does not respond like a repository of charts (its index.yaml cannot be read)',
    remedy: 'correct {places.url}',
  },
  {
    reason: 'ArtifactUnusable',
    matches: /index exceeds the maximum index file size of (\d+)/,
    what: 'the index of the repository is larger than $1 bytes, which source-controller reads at most',
    remedy: 'use the oci:// repository of the same charts, or patch --helm-index-max-size of source-controller',
  },
  {
    reason: 'UrlInvalid',
    matches: /'oci' URL scheme cannot be used with/,
    what: 'its URL is that of an OCI registry, and its type is not',
    remedy: 'set type to oci in {places.template}, or correct {places.url}',
  },
]);
