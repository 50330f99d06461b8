import * as z from 'zod/mini';
import { type Check, fluxVersion } from '../checks.ts';
import { limits } from '../limits.ts';
import { key, listUpTo, ruled, text } from '../schema.ts';
import { registryPattern, urlPattern } from './location.ts';

const version: Check = (entry) =>
  entry === 'latest'
    ? '"latest" names no release; use a release such as v2.9.4 or a range such as 2.9.x'
    : fluxVersion(entry);

const listOf = (check: Check) =>
  ruled(listUpTo(limits.list, text(check)), ({ length }) =>
    length === 0
      ? 'is empty, which would allow nothing; add an entry, or remove the list to allow everything'
      : undefined,
  );

/** The policy, with the documentation of its rules. */
export const policySchema = z.strictObject({
  allowedVersions: key(listOf(version), {
    description:
      'The Flux releases that Shoots may have: exact versions and ranges. A range of the configuration, or no version, resolves to the newest of them that supports the Kubernetes version of the Shoot.',
    default: 'all of the distribution',
    example: '2.9.x, v2.8.3',
  }),
  requireSupportedKubernetes: key(z.boolean(), {
    description:
      '`true`: a Flux release that does not support the Kubernetes version of the Shoot is refused. Otherwise it is a warning.',
    default: '`false`',
    example: 'true',
  }),
  allowedRegistries: key(listOf(registryPattern), {
    description: "The prefixes of the controllers' images that configurations may use.",
    default: 'all',
    example: 'ghcr.io/fluxcd, registry.example.com/**',
  }),
  allowedRepositoryUrls: key(listOf(urlPattern), {
    description:
      'Where sources may read from: URLs of Git repositories, OCI artifacts and Helm repositories, and buckets. The index of a Helm repository may name charts elsewhere.',
    default: 'all',
    example: 'https://git.example.com/**, ssh://*.example.com/**, oci://registry.example.com/team-*/**',
  }),
  requireMultiTenancy: key(z.boolean(), {
    description: '`true`: `multiTenancy` is on unless the configuration says otherwise, and `false` is refused.',
    default: '`false`',
    example: 'true',
  }),
  allowHostKeyScan: key(z.boolean(), {
    description: '`false`: `knownHosts: scan` is refused. Existing host keys stay.',
    default: '`true`',
    example: 'false',
  }),
  allowInsecureUrls: key(z.boolean(), {
    description:
      '`false`: sources that may be read without encryption are refused: `http://`, also in the endpoint of an Azure bucket, `insecure: true`, and OCI registries at local and private addresses, which Flux also tries over HTTP. The same holds for the `address` of a Provider and the `image` of an ImageRepository.',
    default: '`true`',
    example: 'false',
  }),
});

/** What the operators of a landscape permit in the configuration of its projects. */
export type Policy = z.infer<typeof policySchema>;

/** The name of a rule, as operators write it. */
export type Rule = keyof Policy;
