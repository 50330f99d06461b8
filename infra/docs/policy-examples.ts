/** A config file with defaults and a policy, as docs/policy.md shows it. */
export const LANDSCAPE_EXAMPLE = `defaults:
  flux:
    version: 2.9.x
    registry: registry.example.com/fluxcd
  pullSecret: {}
policy:
  allowedVersions: [2.9.x]
  allowedRegistries: [registry.example.com/**]
  allowedRepositoryUrls:
    - ssh://github.com/my-org/**
    - https://*.example.com/**
    - oci://registry.example.com/team-*/**
  requireMultiTenancy: true
  allowHostKeyScan: false
  allowInsecureUrls: false
`;

/** The Secret that `pullSecret: {}` names. */
export const PULL_SECRET_EXAMPLE = `apiVersion: v1
kind: Secret
metadata:
  name: shoot-flux-pull-secret
  namespace: garden
type: kubernetes.io/dockerconfigjson
stringData:
  .dockerconfigjson: '{"auths": {"registry.example.com": {"username": "robot", "password": "..."}}}'
`;

const rule = (name: string) => `${name} in the policy of this landscape`;
const urls = 'use one of ssh://github.com/my-org/**, https://*.example.com/**, oci://registry.example.com/team-*/**';

/** Keys of `flux-config`, and what `validate` prints about them behind `ConfigMap garden-my-project/flux-config: `. */
export const REFUSED_EXAMPLES: readonly (readonly [data: Record<string, string>, sentence: string])[] = [
  [{ fluxVersion: 'v2.8.3' }, `fluxVersion "v2.8.3" is not allowed by ${rule('allowedVersions')}; use 2.9.x`],
  [
    { registry: 'ghcr.io/fluxcd' },
    `registry "ghcr.io/fluxcd" is not allowed by ${rule('allowedRegistries')}; use registry.example.com/**`,
  ],
  [
    { repositoryUrl: 'git@github.com:other/fleet', repositoryType: 'private' },
    `repositoryUrl "ssh://git@github.com/other/fleet" is not allowed by ${rule('allowedRepositoryUrls')}; ${urls}`,
  ],
  [
    { multiTenancy: 'false' },
    `multiTenancy false is not allowed by ${rule('requireMultiTenancy')}; remove it, or set it to true`,
  ],
  [
    { repositoryUrl: 'ssh://git@github.com/my-org/fleet', repositoryType: 'private', knownHosts: 'scan' },
    `knownHosts "scan" is not allowed by ${rule('allowHostKeyScan')}; add the lines that ssh-keyscan prints`,
  ],
];
