import type { Failure } from '../remedies.ts';

const repository = ['ImageRepository'];
const policy = ['ImagePolicy'];
const automation = ['ImageUpdateAutomation'];

/** Scans of images, the choice of a tag, and the commits that write it into a Git repository. */
export const imageFailures: Failure[] = [
  {
    reason: 'CredentialsIncomplete',
    kinds: repository,
    matches: /auth for "([^"]+)" not found in secret/,
    says: ([, host], { secret }) => [`its Secret has no credentials for ${host}`, `add the registry to ${secret}`],
  },
  {
    reason: 'AuthenticationFailed',
    kinds: repository,
    matches: /\bDENIED\b|\bUNAUTHORIZED\b|\b401 Unauthorized\b|\b403 Forbidden\b|status code 40[13]\b/i,
    says: (_, { secret }) => [
      'the registry does not allow Flux to list the tags of the image',
      `put .dockerconfigjson with pull access into ${secret}`,
    ],
  },
  {
    reason: 'RepositoryNotFound',
    kinds: repository,
    matches: /NAME_UNKNOWN|status code 404|\b404 Not Found\b/,
    says: (_, { places }) => ['the registry has no such image', `push it, or correct image in ${places.template}`],
  },
  {
    reason: 'UrlInvalid',
    kinds: repository,
    matches: /could not parse reference/,
    says: (_, { places }) => ['its image is not a valid name', `correct image in ${places.template}`],
  },
  {
    reason: 'UrlInvalid',
    kinds: repository,
    matches: /should not include a tag; remove '([^']+)'/,
    says: ([, tag], { places }) => [`its image ends with the tag ${tag}`, `remove it from image in ${places.template}`],
  },
  {
    reason: 'RevisionInvalid',
    kinds: policy,
    matches: /invalid regular expression pattern '([^']*)'/,
    says: ([, pattern], { places }) => [
      `${pattern} is not a valid regular expression`,
      `correct filterTags.pattern in ${places.template}`,
    ],
  },
  {
    reason: 'RevisionInvalid',
    kinds: policy,
    matches: /invalid numeric value '([^']+)'/,
    says: ([, tag], { places }) => [
      `tag ${tag} is not a number`,
      `exclude it or extract its number with filterTags, or correct policy, in ${places.template}`,
    ],
  },
  {
    reason: 'RevisionInvalid',
    kinds: policy,
    matches: /given ImagePolicyChoice object is invalid/,
    says: (_, { places }) => [
      'it does not say how to choose a tag',
      `set semver, alphabetical or numerical of policy in ${places.template}`,
    ],
  },
  {
    reason: 'SourceMissing',
    kinds: policy,
    matches: /ImageRepository\S* "([^"]+)" not found/,
    says: ([, name], { places }) => [
      `ImageRepository ${name} does not exist in the shoot`,
      `create it, or correct imageRepositoryRef in ${places.template}`,
    ],
  },
  {
    reason: 'SourceNotReady',
    kinds: policy,
    matches: /has not been scanned yet|no tags in database/,
    says: () => ['its ImageRepository has found no tags yet', 'check the ImageRepository'],
    isTransient: true,
  },
  {
    reason: 'RevisionNotFound',
    kinds: policy,
    matches: /version list argument cannot be empty|unable to determine latest version from provided list/,
    says: (_, { places }) => [
      'no tag of the image fits',
      `push one that does, or correct policy and filterTags in ${places.template}`,
    ],
  },
  {
    reason: 'RevisionInvalid',
    kinds: policy,
    matches: /improper constraint: (\S+)/,
    says: ([, range], { places }) => [
      `${range} is not a valid version range`,
      `correct policy.semver.range in ${places.template}`,
    ],
  },
  {
    reason: 'SourceMissing',
    kinds: automation,
    matches: /GitRepository\S* "([^"]+)" not found/,
    says: ([, name], { places }) => [
      `GitRepository ${name} does not exist in the shoot`,
      `create it, or correct sourceRef in ${places.template}`,
    ],
  },
  {
    reason: 'PushRefused',
    kinds: automation,
    matches:
      /failed to push.{0,500}?(?:authorization failed|authentication required|access.{0,50}not granted|denied|read.only|protected branch|hook declined|command error on refs|\b403\b)/is,
    says: (_, { places }) => [
      'the server of the repository refuses the commit',
      `give the credentials of the GitRepository write access, or push to another branch with git.push in ${places.template}`,
    ],
  },
];
