import type { Failure } from '../failure.ts';

const helm = ['HelmRepository'];

/** Repositories of charts that are not OCI registries: Flux fetches their index. */
export const chartRepositoryFailures: Failure[] = [
  {
    reason: 'AuthenticationFailed',
    kinds: helm,
    matches: /failed to fetch \S+ : 40[13]\b/,
    says: (_, { url, credentials }) => [`the server does not allow Flux to read the charts at ${url}`, credentials],
  },
  {
    reason: 'RepositoryNotFound',
    kinds: helm,
    matches: /failed to fetch \S+ : 404\b/,
    says: (_, { url, places }) => [`there is no repository of charts at ${url}`, `correct ${places.url}`],
  },
  {
    reason: 'ArtifactUnusable',
    kinds: helm,
    matches: /failed to load Helm repository from index/,
    says: (_, { url, places }) => [
      `the server at ${url} does not respond like a repository of charts (its index.yaml cannot be read)`,
      `correct ${places.url}`,
    ],
  },
  {
    reason: 'UrlInvalid',
    kinds: helm,
    matches: /'oci' URL scheme cannot be used with/,
    says: (_, { places }) => [
      'its URL is that of an OCI registry, and its type is not',
      `set type to oci in ${places.template}, or correct ${places.url}`,
    ],
  },
];
