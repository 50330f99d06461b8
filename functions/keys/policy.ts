import { mergeLayers, providerConfigLayer } from '../../shared/config/effective-config.ts';
import { type FluxConfigMap, fluxConfigObject } from '../../shared/config/flux-config-map.ts';
import type { Origins } from '../../shared/config/origins.ts';
import { hostKeyIssues, sourceIssues } from '../../shared/config/policy/judge.ts';
import type { Policy } from '../../shared/config/policy/policy.ts';
import type { Repository } from '../../shared/config/repository.ts';
import type { Landscape } from '../../shared/config/types.ts';
import { variablesIn, withPlaceholders } from '../../shared/config/variables.ts';
import { ConfigError, type ConfigIssue } from '../../shared/errors.ts';

/** What the landscape's policy refuses in a project's `flux-config`. */
export interface Refusals {
  issues: ConfigIssue[];
  /** True: the repository is refused, so it gets no key pair, and its host is not contacted. */
  isRepository: boolean;
}

/**
 * Asks the policy about `flux-config` alone. The repository is judged also where other keys are wrong, because those do
 * not keep it from getting a key pair.
 */
export function refusalsOf(
  landscape: Landscape,
  fluxConfig: FluxConfigMap,
  repository: Repository | undefined,
): Refusals {
  const { policy } = landscape;
  if (policy === undefined) return { issues: [], isRepository: false };
  const object = fluxConfigObject(fluxConfig.namespace);
  const origins = { 'source.spec.url': { object, path: 'repositoryUrl' } };
  const ofUrl = repository === undefined ? [] : urlIssues(policy, repository.url, origins);
  const ofHostKeys = hostKeyIssues(policy, repository?.knownHosts, object);
  const judged = new Set(['repositoryUrl', 'knownHosts']);
  const others = issuesOf(landscape, fluxConfig).filter((issue) => issue.object === object && !judged.has(issue.path));
  return {
    issues: [...ofUrl, ...ofHostKeys, ...others.filter(({ rule }) => rule !== undefined)],
    isRepository: ofUrl.length > 0,
  };
}

/** Each Shoot has its own values in the path of a URL with variables, which its own runs judge; the host is the same. */
function urlIssues(policy: Policy, url: string, origins: Origins): ConfigIssue[] {
  const judged = (by: Policy) => sourceIssues(by, 'GitRepository', { url: withPlaceholders(url) }, origins);
  const mayBeAllowed = variablesIn(url).length > 0 && judged({ ...policy, ...withoutPaths(policy) }).length === 0;
  return mayBeAllowed ? [] : judged(policy);
}

function withoutPaths({ allowedRepositoryUrls }: Policy): Pick<Policy, 'allowedRepositoryUrls'> {
  const ofHost = (pattern: string) => pattern.replace(/^((?:[^/]+:\/\/)?[^/]+).*$/, '$1/**');
  return allowedRepositoryUrls === undefined ? {} : { allowedRepositoryUrls: allowedRepositoryUrls.map(ofHost) };
}

function issuesOf(landscape: Landscape, fluxConfig: FluxConfigMap): ConfigIssue[] {
  try {
    mergeLayers({ landscape, fluxConfig }, providerConfigLayer(undefined));
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.issues;
    throw error;
  }
}
