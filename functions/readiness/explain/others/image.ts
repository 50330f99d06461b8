import type { Failure } from '../remedies.ts';
import { ownerFailures } from '../source/repository.ts';

/** Scans of the tags of an image. */
export const imageRepositoryFailures: Failure[] = [
  ...ownerFailures,
  {
    reason: 'CredentialsIncomplete',
    matches: /auth for "([^"]+)" not found in secret/,
    what: 'its Secret has no credentials for $1',
    remedy: 'add the registry to {secret}',
  },
  {
    reason: 'AuthenticationFailed',
    matches: /\bDENIED\b|\bUNAUTHORIZED\b|\b401 Unauthorized\b|\b403 Forbidden\b|status code 40[13]\b/i,
    what: 'the registry does not allow Flux to list the tags of the image',
    remedy: '{credentials}',
  },
  {
    reason: 'RepositoryNotFound',
    matches: /NAME_UNKNOWN|status code 404|\b404 Not Found\b/,
    what: 'the registry has no such image',
    remedy: 'push it, or correct image in {places.template}',
  },
  {
    reason: 'UrlInvalid',
    matches: /could not parse reference/,
    what: 'its image is not a valid name',
    remedy: 'correct image in {places.template}',
  },
  {
    reason: 'UrlInvalid',
    matches: /should not include a tag; remove '([^']+)'/,
    what: 'its image ends with the tag $1',
    remedy: 'remove it from image in {places.template}',
  },
];

/** The choice of a tag. */
export const imagePolicyFailures: Failure[] = [
  {
    reason: 'RevisionInvalid',
    matches: /invalid regular expression pattern '([^']*)'/,
    what: '$1 is not a valid regular expression',
    remedy: 'correct filterTags.pattern in {places.template}',
  },
  {
    reason: 'RevisionInvalid',
    matches: /invalid numeric value '([^']+)'/,
    what: 'tag $1 is not a number',
    remedy: 'exclude it or extract its number with filterTags, or correct policy, in {places.template}',
  },
  {
    reason: 'RevisionInvalid',
    matches: /given ImagePolicyChoice object is invalid/,
    what: 'it does not say how to choose a tag',
    remedy: 'set semver, alphabetical or numerical of policy in {places.template}',
  },
  {
    reason: 'SourceMissing',
    matches: /ImageRepository\S* "([^"]+)" not found/,
    what: 'ImageRepository $1 does not exist in the shoot',
    remedy: 'create it, or correct imageRepositoryRef in {places.template}',
  },
  {
    reason: 'SourceNotReady',
    matches: /has not been scanned yet|no tags in database/,
    what: 'its ImageRepository has found no tags yet',
    remedy: 'check the ImageRepository',
    isTransient: true,
  },
  {
    reason: 'RevisionNotFound',
    matches: /version list argument cannot be empty|unable to determine latest version from provided list/,
    what: 'no tag of the image fits',
    remedy: 'push one that does, or correct policy and filterTags in {places.template}',
  },
  {
    reason: 'RevisionInvalid',
    matches: /improper constraint: (\S+)/,
    what: '$1 is not a valid version range',
    remedy: 'correct policy.semver.range in {places.template}',
  },
];

/** Commits that write a tag into a Git repository. */
export const automationFailures: Failure[] = [
  {
    reason: 'SourceMissing',
    matches: /GitRepository\S* "([^"]+)" not found/,
    what: 'GitRepository $1 does not exist in the shoot',
    remedy: 'create it, or correct sourceRef in {places.template}',
  },
  {
    reason: 'PushRefused',
    matches:
      /failed to push.{0,500}?(?:authorization failed|authentication required|access.{0,50}not granted|denied|read.only|protected branch|hook declined|command error on refs|\b403\b)/is,
    what: 'the server of the repository refuses the commit',
    remedy:
      'give the credentials of the GitRepository write access, or push to another branch with git.push in {places.template}',
  },
];
