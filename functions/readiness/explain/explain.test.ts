import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { LONGEST_QUOTE } from '../../../shared/runtime/safe-text.ts';
import { explain } from './explain.ts';
import { kustomizationFailures } from './kustomization-failures.ts';
import type { Origin } from './remedies.ts';
import { sourceFailures } from './source-failures.ts';

const flux = (group: string, kind: string, name: string, spec: Record<string, unknown>): KubeObject => ({
  apiVersion: `${group}.toolkit.fluxcd.io/v1`,
  kind,
  metadata: { namespace: 'flux-system', name },
  spec,
});
const ssh = 'ssh://git@git.example.com/org/fleet';
const https = 'https://git.example.com/org/fleet';
const gitRepository = (spec: Record<string, unknown>) => flux('source', 'GitRepository', 'main-gitrepo', spec);
const overSsh = gitRepository({ url: ssh, ref: { branch: 'main' }, secretRef: { name: 'flux-source' } });
const overHttps = gitRepository({ url: https, ref: { branch: 'main' }, secretRef: { name: 'flux-source' } });
const open = gitRepository({ url: https, ref: { tag: 'v1' } });
const oci = flux('source', 'OCIRepository', 'fleet', { url: 'oci://ghcr.io/org/fleet', secretRef: { name: 'reg' } });
const bucket = flux('source', 'Bucket', 'fleet', { endpoint: 's3.example.com', bucketName: 'fleet' });
const kustomization = flux('kustomize', 'Kustomization', 'main-ks', {
  path: './clusters/production',
  decryption: { provider: 'sops', secretRef: { name: 'sops-age' } },
});

const fluxConfig: Origin = { from: 'flux-config', isReleased: false };
const providerConfig: Origin = { from: 'providerConfig', isReleased: false };
const released: Origin = { from: 'flux-config', isReleased: true };

const checkout = 'failed to checkout and determine revision: unable to';
const deployKey = 'to the repository as a deploy key';
const additional = 'additionalSecretResources with targetName sops-age in the providerConfig';

/** Object, where it is configured, what Flux says -> reason, and what the sentence has to name. */
const told: [KubeObject, Origin, string, string, ...string[]][] = [
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': ssh: handshake failed: knownhosts: key mismatch`,
    'HostKeyMismatch',
    'GitRepository flux-system/main-gitrepo: the SSH server git.example.com shows another key than known_hosts has; ',
    'put its lines into knownHosts of ConfigMap flux-config',
  ],
  [
    overSsh,
    providerConfig,
    `${checkout} list remote for '${ssh}': ssh: handshake failed: knownhosts: key is unknown`,
    'HostKeyUnknown',
    'key known_hosts of the Secret that source.secretResourceName of the providerConfig refers to',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain`,
    'AuthenticationFailed',
    'git.example.com does not know the SSH key; ',
    'flux.extensions.gardener.cloud/public-key of Secret flux-source',
    deployKey,
  ],
  [
    overSsh,
    fluxConfig,
    "failed to configure authentication options: invalid 'ssh' auth option: 'known_hosts' is required",
    'CredentialsIncomplete',
    "its Secret has no known_hosts; put that key into Secret flux-source in the project's namespace",
  ],
  [
    overHttps,
    providerConfig,
    "failed to configure authentication options: invalid 'https' auth option: 'password' requires 'username' to be set",
    'CredentialsIncomplete',
    'its Secret has no username',
  ],
  [
    overSsh,
    providerConfig,
    `${checkout} clone '${ssh}': unable to construct auth method with options: ssh: no key found`,
    'CredentialsUnusable',
    'its private key cannot be read',
  ],
  [
    overSsh,
    fluxConfig,
    'failed to get secret \'flux-system/flux-source\': secrets "flux-source" not found',
    'CredentialsMissing',
    'Secret flux-system/flux-source is not in the shoot',
  ],
  [
    overHttps,
    fluxConfig,
    `${checkout} clone '${https}': authentication required`,
    'AuthenticationFailed',
    `${https} may not be read with these credentials, or is not there; `,
    'repositoryUrl of ConfigMap flux-config',
    'write username and password (a token) of somebody who may read it into Secret flux-source',
  ],
  [
    open,
    fluxConfig,
    `${checkout} clone '${https}': authentication required: Repository not found.`,
    'AuthenticationFailed',
    'set repositoryType of ConfigMap flux-config to private',
  ],
  [
    overHttps,
    providerConfig,
    `${checkout} list remote for '${https}': authorization failed`,
    'AuthenticationFailed',
    'bearerToken, of somebody who may read it into the Secret that source.secretResourceName',
  ],
  [
    open,
    providerConfig,
    `${checkout} clone '${https}': repository not found: git repository: '${https}'`,
    'RepositoryNotFound',
    'correct source.template.spec.url of the providerConfig',
    'a Secret, and name that as source.secretResourceName',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': couldn't find remote ref "refs/heads/main"`,
    'RevisionNotFound',
    `${ssh} has no branch main; push it, or correct repositoryBranch of ConfigMap flux-config`,
  ],
  [
    open,
    fluxConfig,
    `git repository not found: unable to clone: couldn't find remote ref 'refs/tags/v1': git repository: '${https}'`,
    'RevisionNotFound',
    'has no tag v1; push it, or correct repositoryTag of ConfigMap flux-config',
  ],
  [
    gitRepository({ url: https, ref: { semver: '>=9' } }),
    fluxConfig,
    'failed to checkout and determine revision: no match found for semver: >=9',
    'RevisionNotFound',
    'has no version >=9; push it, or correct repositorySemver',
  ],
  [
    gitRepository({ url: https, ref: { commit: '9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c' } }),
    released,
    "failed to checkout and determine revision: unable to resolve commit object for '9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c': object not found",
    'RevisionNotFound',
    'correct spec.ref of GitRepository flux-system/main-gitrepo in the shoot',
  ],
  [open, fluxConfig, 'git repository is empty', 'RepositoryEmpty', 'push tag v1'],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': dial tcp: lookup git.example.com on 100.64.0.10:53: no such host`,
    'NameNotResolved',
    'the name git.example.com cannot be resolved in the shoot',
    'repositoryUrl',
  ],
  [
    overHttps,
    fluxConfig,
    `${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": dial tcp: lookup git.example.com on 10.100.0.10:53: read udp 192.168.78.214:47218->10.100.0.10:53: i/o timeout`,
    'NameNotResolved',
    'the name git.example.com cannot be resolved',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': dial tcp 192.0.2.7:22: connect: connection refused`,
    'ConnectionRefused',
    'git.example.com refuses the connection',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': dial tcp 192.0.2.7:22: connect: connection timed out`,
    'TimedOut',
    'let the shoot reach it (firewall, proxy, NetworkPolicies), or raise source.template.spec.timeout of a providerConfig',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': ssh: handshake failed: read tcp 10.0.0.1:45906->192.0.2.7:22: read: connection timed out`,
    'TimedOut',
    'git.example.com did not answer in time',
  ],
  [
    overHttps,
    fluxConfig,
    `${checkout} list remote for '${https}': Get "${https}/info/refs?service=git-upload-pack": context deadline exceeded`,
    'TimedOut',
    'git.example.com did not answer in time',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': dial tcp 192.0.2.7:22: connect: no route to host`,
    'NotReachable',
    'the connection to git.example.com breaks',
  ],
  [
    overHttps,
    fluxConfig,
    `${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    'CertificateNotTrusted',
    "put the certificate of its authority as ca.crt into Secret flux-source in the project's namespace",
  ],
  [
    overHttps,
    providerConfig,
    `${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": tls: failed to verify certificate: x509: certificate is valid for ingress.local, not git.example.com`,
    'CertificateInvalid',
    'the certificate of git.example.com is not for that name',
  ],
  [
    overHttps,
    providerConfig,
    `${checkout} clone '${https}': Get "${https}": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time 2026-01-02T03:04:05Z is after 2025-01-02T03:04:05Z`,
    'CertificateInvalid',
    'has expired or is not valid yet',
  ],
  [
    overHttps,
    providerConfig,
    `${checkout} clone '${https}': tls: handshake failure`,
    'CertificateNotTrusted',
    'no TLS connection to git.example.com comes about',
  ],
  [
    overHttps,
    providerConfig,
    'PGP public keys secret error: secrets "pgp" not found',
    'CredentialsMissing',
    'Secret pgp is not in the shoot; bring it there by additionalSecretResources',
  ],
  [
    overHttps,
    providerConfig,
    'failed to verify the signature using provider \'cosign keyless\': Get "https://rekor.sigstore.dev": context deadline exceeded',
    'VerificationFailed',
    'what verifies its signature does not answer; let the shoot reach it',
  ],
  [
    overHttps,
    providerConfig,
    'failed to verify the signature of commit: unable to verify commit with any of the given key rings',
    'VerificationFailed',
    'correct verify in source.template.spec of the providerConfig',
  ],
  [
    gitRepository({ url: 'fleet' }),
    released,
    "failed to parse url: unknown transport ''",
    'UrlInvalid',
    'correct spec.url of GitRepository',
  ],
  [
    overHttps,
    fluxConfig,
    'failed to create temporary working directory: mkdir /tmp/gitrepository: no space left on device',
    'StorageFull',
    '.sourceignore',
  ],
  [
    oci,
    providerConfig,
    'failed to determine artifact digest: GET https://ghcr.io/token?scope=repository:org/fleet:pull&service=ghcr.io: DENIED: denied',
    'AuthenticationFailed',
    'OCIRepository flux-system/fleet: the registry does not let Flux pull oci://ghcr.io/org/fleet; put .dockerconfigjson',
    'into the Secret that source.secretResourceName of the providerConfig refers to',
  ],
  [
    oci,
    providerConfig,
    "failed to pull artifact from 'oci://ghcr.io/org/fleet': GET https://ghcr.io/v2/org/fleet/manifests/6.0.0: MANIFEST_UNKNOWN: manifest unknown",
    'RevisionNotFound',
    'the registry has no such artifact at oci://ghcr.io/org/fleet; push it, or correct source.template.spec.url',
  ],
  [
    oci,
    providerConfig,
    'failed to determine artifact digest: GET https://index.docker.io/v2/org/fleet/manifests/1: TOOMANYREQUESTS: You have reached your unauthenticated pull rate limit.',
    'RateLimited',
    'raise source.template.spec.interval of the providerConfig',
  ],
  [
    oci,
    providerConfig,
    'failed to determine artifact digest: Get "https://ghcr.io/v2/": x509: certificate signed by unknown authority',
    'CertificateNotTrusted',
    'ca.crt',
  ],
  [
    oci,
    providerConfig,
    'failed to extract layer contents from artifact: gzip: invalid header',
    'ArtifactUnusable',
    'flux push artifact',
  ],
  [
    bucket,
    providerConfig,
    "failed to confirm existence of 'fleet' bucket: Access Denied.",
    'AuthenticationFailed',
    's3.example.com does not let Flux read the bucket; put accesskey and secretkey',
  ],
  [
    bucket,
    providerConfig,
    "bucket 'fleet' not found",
    'RepositoryNotFound',
    'there is no bucket fleet; correct bucketName or endpoint in source.template.spec of the providerConfig',
  ],
  [kustomization, fluxConfig, 'Source artifact not found, retrying in 30s', 'SourceNotReady', 'SourceReady'],
  [
    kustomization,
    providerConfig,
    "dependency 'flux-system/infra' is not ready",
    'DependencyNotReady',
    'it waits for Kustomization flux-system/infra, which is not ready',
  ],
  [
    kustomization,
    providerConfig,
    'dependency \'flux-system/infra\' not found: Kustomization.kustomize.toolkit.fluxcd.io "infra" not found',
    'DependencyNotReady',
    'which is not there',
    'dependsOn in kustomization.template.spec of the providerConfig',
  ],
  [
    kustomization,
    providerConfig,
    'Dependencies do not meet ready condition, retrying in 30s',
    'DependencyNotReady',
    'it waits for what dependsOn names',
  ],
  [
    kustomization,
    fluxConfig,
    'failed to download archive: GET http://source-controller.flux-system.svc.cluster.local./gitrepository/flux-system/main-gitrepo/3f5e.tar.gz giving up after 10 attempt(s)',
    'ArtifactNotReachable',
    'NetworkPolicies',
  ],
  [
    kustomization,
    fluxConfig,
    'kustomization path not found: stat /tmp/kustomization-878691743/clusters/production: no such file or directory',
    'PathNotFound',
    'the source has no folder clusters/production; create it there, or correct repositoryPath of ConfigMap flux-config',
  ],
  [
    kustomization,
    released,
    'kustomization path not found: stat /tmp/kustomization-878691743/clusters/production: no such file or directory',
    'PathNotFound',
    'correct spec.path of Kustomization flux-system/main-ks in the shoot',
  ],
  [
    kustomization,
    providerConfig,
    'cannot get sops decryption Secret \'flux-system/sops-age\': Secret "sops-age" not found',
    'DecryptionKeyMissing',
    'Secret flux-system/sops-age with the keys for decryption is not in the shoot',
    additional,
  ],
  [
    kustomization,
    providerConfig,
    "failed to import 'age.agekey' data from sops decryption Secret 'flux-system/sops-age': malformed secret key",
    'DecryptionKeyMissing',
    'key age.agekey of Secret flux-system/sops-age cannot be used',
  ],
  [
    kustomization,
    fluxConfig,
    'Secret/podinfo/mysecret is SOPS encrypted, configuring decryption is required for this secret to be reconciled',
    'DecryptionNotConfigured',
    'Secret/podinfo/mysecret is encrypted with SOPS',
    'set kustomization.template.spec.decryption of a providerConfig',
  ],
  [
    kustomization,
    providerConfig,
    "decryption failed for 'Secret.v1.[noGrp]/basic-auth': failed to decrypt and format 'flux-system/basic-auth' Secret data: cannot get sops data key: Failed to get the data key required to decrypt the SOPS file.\n\nGroup 0: FAILED\n  age1zyhut6uk754ayr3arpcelf2zvgrllmmj94q8pctwqnr66ul2g5as4wqujw: FAILED\n    - | failed to create reader for decrypting sops data key with\n      | age: no identity matched any of the recipients",
    'DecryptionFailed',
    'none of the keys opens Secret.v1.[noGrp]/basic-auth',
    additional,
    'no identity matched any of the recipients',
  ],
  [
    kustomization,
    providerConfig,
    "decryption failed for 'metrics': LoadEncryptedFile: sops metadata not found",
    'DecryptionFailed',
    'metrics cannot be decrypted',
  ],
  [
    kustomization,
    providerConfig,
    "post build failed for 'Deployment.v1.apps/app': substitute from 'ConfigMap/shoot-info' error: configmaps \"shoot-info\" not found",
    'SubstitutionFailed',
    'ConfigMap shoot-info with variables is not in its namespace',
  ],
  [
    kustomization,
    fluxConfig,
    'post build failed for \'Deployment.v1.apps/app\': envsubst error: variable substitution failed: variable not set (strict mode): "domain"',
    'SubstitutionFailed',
    'the variables in Deployment.v1.apps/app cannot be filled in',
    'postBuild of kustomization.template.spec of a providerConfig',
  ],
  [
    kustomization,
    fluxConfig,
    "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'k8s': read /tmp/kustomization-2520510114/fixtures/k8s: is a directory': recursed accumulation of path '/tmp/kustomization-2520510114/fixtures/k8s': accumulating resources: accumulation err='accumulating resources from 'namespace.yaml': open /tmp/kustomization-2520510114/fixtures/k8s/namespace.yaml: no such file or directory': must build at directory: not a valid directory: evalsymlink failure",
    'BuildFailed',
    'kustomization.yaml names namespace.yaml, which cannot be read',
  ],
  [
    kustomization,
    fluxConfig,
    'failed to decode Kubernetes YAML from /tmp/kustomization-42/clusters/values.yaml: missing Resource metadata',
    'BuildFailed',
    'clusters/values.yaml is no YAML of Kubernetes objects',
  ],
  [
    kustomization,
    fluxConfig,
    'kustomize build failed: json: unknown field "env"',
    'BuildFailed',
    '"kustomize build ./clusters/production"',
  ],
  [
    kustomization,
    providerConfig,
    "health check failed after 2m0.013489487s: timeout waiting for: [HelmRelease/apps/httpbin status: 'InProgress', Deployment/apps/a status: 'Failed']",
    'HealthCheckFailed',
    'HelmRelease/apps/httpbin does not get ready; see its status and events in the shoot',
  ],
  [
    kustomization,
    providerConfig,
    "health check failed after 1.5s: failed early due to stalled resources: [Job/apps/migrate status: 'Failed']",
    'HealthCheckFailed',
    'Job/apps/migrate does not get ready',
  ],
  [
    kustomization,
    providerConfig,
    'Health checks canceled due to new reconciliation triggered by GitRepository/flux-system/fleet',
    'HealthCheckCanceled',
    'a newer revision came',
  ],
  [
    kustomization,
    providerConfig,
    'health check failed after 30.1s: context deadline exceeded',
    'HealthCheckFailed',
    'something that it has applied does not get ready',
  ],
  [
    overSsh,
    released,
    `${checkout} clone '${ssh}': ssh: handshake failed: knownhosts: key mismatch`,
    'HostKeyMismatch',
    'put its lines into knownHosts of ConfigMap flux-config',
  ],
  [
    gitRepository({ url: ssh, secretRef: { name: 'mine' } }),
    released,
    `${checkout} clone '${ssh}': ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain`,
    'AuthenticationFailed',
    'put identity, the private half of a deploy key of the repository, into Secret flux-system/mine in the shoot',
  ],
  [
    open,
    released,
    `${checkout} clone '${https}': authentication required`,
    'AuthenticationFailed',
    'a Secret in the shoot, and name that as spec.secretRef of GitRepository flux-system/main-gitrepo',
  ],
  [
    kustomization,
    providerConfig,
    "can't access 'GitRepository/other/fleet', cross-namespace references have been blocked",
    'AccessDenied',
    'it may not use GitRepository/other/fleet',
  ],
  [
    kustomization,
    providerConfig,
    'Deployment/apps/a dry-run failed (Forbidden): deployments.apps "a" is forbidden: User "system:serviceaccount:apps:deployer" cannot patch resource "deployments" in API group "apps" in the namespace "apps"',
    'NotAllowed',
    'ServiceAccount apps/deployer may not patch deployments',
  ],
  [
    kustomization,
    fluxConfig,
    'ClusterIssuer/letsencrypt dry-run failed: no matches for kind "ClusterIssuer" in version "cert-manager.io/v1"',
    'KindUnknown',
    'the shoot does not know ClusterIssuer in cert-manager.io/v1',
    'dependsOn',
  ],
  [
    kustomization,
    fluxConfig,
    'ConfigMap/a namespace not specified: the server could not find the requested resource',
    'NamespaceMissing',
    'ConfigMap/a has no namespace',
  ],
  [
    kustomization,
    fluxConfig,
    'ConfigMap/apps/a not found: namespaces "apps" not found',
    'NamespaceMissing',
    'namespace apps is not there',
  ],
  [
    kustomization,
    fluxConfig,
    'Deployment/apps/a dry-run failed (Invalid): Deployment.apps "a" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"a"}}: field is immutable',
    'ApplyFailed',
    'field spec.selector of Deployment/apps/a cannot be changed',
    'kustomize.toolkit.fluxcd.io/force: enabled',
  ],
  [
    kustomization,
    fluxConfig,
    'Deployment/apps/a dry-run failed (Forbidden): admission webhook "validate.kyverno.svc-fail" denied the request: no limits',
    'ApplyFailed',
    'the admission webhook "validate.kyverno.svc-fail" denies Deployment/apps/a; correct it in the repository',
  ],
  [
    kustomization,
    fluxConfig,
    'Deployment/apps/a dry-run failed: Get "https://10.0.0.1:443/api": dial tcp 10.0.0.1:443: connect: connection refused',
    'ApiServerNotAvailable',
    'the API server of the shoot did not take Deployment/apps/a now; it is tried again',
  ],
  [
    kustomization,
    fluxConfig,
    'Deployment/apps/a dry-run failed (FieldManagerConflict): Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas',
    'ApplyFailed',
    '"kubectl" writes the same fields of Deployment/apps/a',
  ],
  [
    kustomization,
    fluxConfig,
    'delete failed, errors: ConfigMap/apps/a delete failed: timed out',
    'PruneFailed',
    'cannot be deleted',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': ssh: handshake failed: ssh: no common algorithm for host key; client offered: [ssh-ed25519], peer offered: [rsa-sha2-512]`,
    'HostKeyUnknown',
    'known_hosts has no key of a kind that the SSH server git.example.com has; put its lines into knownHosts',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': unable to construct auth method with options: knownhosts: /tmp/known_hosts:1: illegal base64 data at input byte 5`,
    'HostKeysUnusable',
    'its known_hosts cannot be read; put its lines into knownHosts of ConfigMap flux-config, as ssh-keyscan',
  ],
  [
    flux('source', 'Bucket', 'fleet', { endpoint: 's3.example.com', secretRef: { name: 's3' } }),
    providerConfig,
    "invalid 's3' secret data: required fields 'accesskey' and 'secretkey'",
    'CredentialsIncomplete',
    "its Secret does not have 'accesskey' and 'secretkey'; put that into the Secret that source.secretResourceName",
  ],
  [
    overHttps,
    providerConfig,
    "failed to configure proxy options: secret 'flux-system/proxy': key 'address' not found",
    'CredentialsIncomplete',
    'Secret proxy has no address; put that key into the Secret that this one is a copy of',
  ],
  [
    oci,
    providerConfig,
    "failed to verify the signature using provider 'notation': 'trustpolicy.json' not found in secret 'flux-system/notation'",
    'CredentialsIncomplete',
    'Secret notation has no trustpolicy.json',
  ],
  [
    overHttps,
    providerConfig,
    "secretRef 'flux-system/github' has github app data but provider is not set to github",
    'CredentialsIncomplete',
    'correct provider in source.template.spec of the providerConfig',
  ],
  [
    overHttps,
    providerConfig,
    'to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller',
    'FeatureDisabled',
    'run without the feature ObjectLevelWorkloadIdentity; remove serviceAccountName',
  ],
  [
    oci,
    providerConfig,
    'failed to verify the signature using provider \'cosign\': secrets "cosign-pub" not found',
    'CredentialsMissing',
    'Secret cosign-pub is not in the shoot; bring it there by additionalSecretResources',
  ],
  [
    oci,
    providerConfig,
    "serviceaccount 'flux-system/puller' not found",
    'ServiceAccountMissing',
    'ServiceAccount flux-system/puller is not in the shoot; create it there, or correct serviceAccountName',
  ],
  [
    overHttps,
    providerConfig,
    `${checkout} clone '${https}': Get "${https}/info/refs?service=git-upload-pack": proxyconnect tcp: dial tcp: lookup proxy.local on 10.0.0.1:53: no such host`,
    'ProxyFailed',
    'in the Secret that proxySecretRef in source.template.spec of the providerConfig names',
  ],
  [
    oci,
    providerConfig,
    "failed to determine the artifact tag for 'oci://ghcr.io/org/fleet': semver '>>9' parse error: improper constraint: >>9",
    'RevisionInvalid',
    '>>9 is no range of versions; correct source.template.spec.ref',
  ],
  [
    overHttps,
    fluxConfig,
    `${checkout} clone '${https}': object not found`,
    'CheckoutFailed',
    'branch main of https://git.example.com/org/fleet cannot be checked out as it is',
  ],
  [
    overHttps,
    fluxConfig,
    `${checkout} list remote for '${https}': invalid pkt-len found`,
    'NoGitServer',
    'is no Git server, but for example a login page; correct repositoryUrl',
  ],
  [
    overSsh,
    fluxConfig,
    `${checkout} clone '${ssh}': unknown error: ERROR: The project you were looking for could not be found or you don't have permission to view it.`,
    'RepositoryNotFound',
    'or these credentials may not see it',
    deployKey,
  ],
  [overHttps, providerConfig, "no artifact available for include 'other'", 'IncludeNotReady', 'GitRepository other'],
  [
    overHttps,
    providerConfig,
    'could not get resource for include \'other\': gitrepositories.source.toolkit.fluxcd.io "other" not found',
    'IncludeFailed',
    'it cannot include GitRepository other',
    'correct include in source.template.spec of the providerConfig',
  ],
  [
    overHttps,
    providerConfig,
    'failed to sparse checkout directories : lstat /tmp/gitrepository-1/apps: no such file or directory',
    'PathNotFound',
    'correct sparseCheckout',
  ],
  [
    oci,
    providerConfig,
    "URL validation failed for 'oci://ghcr.io/org/fleet:v1': URL must not contain a tag; remove ':v1'",
    'UrlInvalid',
    'correct source.template.spec.url of the providerConfig',
  ],
  [
    overHttps,
    fluxConfig,
    'unable to archive artifact to storage: open /data/gitrepository/x: permission denied',
    'StorageFailed',
    'source-controller cannot keep what it has fetched; see its log',
  ],
  [
    overHttps,
    fluxConfig,
    `${checkout} clone '${https}': unexpected client error: unexpected requesting "${https}/info/refs?service=git-upload-pack" status code: 503`,
    'ServerFailed',
    'git.example.com answers with an error of its own; it is tried again',
  ],
  [
    oci,
    providerConfig,
    'failed to determine artifact digest: Get "https://ghcr.io/v2/": http: server gave HTTP response to HTTPS client',
    'ProtocolMismatch',
    'correct source.template.spec.url of the providerConfig, or set insecure',
  ],
  [
    oci,
    providerConfig,
    "failed to generate transport for 'oci://ghcr.io/org/fleet': failed to parse CA certificate",
    'CertificateUnusable',
    'put them in PEM form into ca.crt',
  ],
  [
    oci,
    providerConfig,
    'failed to get credential from aws: operation error STS: AssumeRoleWithWebIdentity',
    'AuthenticationFailed',
    'aws gives no credentials; correct provider in source.template.spec of the providerConfig',
  ],
  [
    overHttps,
    providerConfig,
    "cannot verify signature of commit '9c36b9c4' since it is not signed",
    'VerificationFailed',
    'sign the revision',
  ],
  [
    kustomization,
    providerConfig,
    'GitRepository.source.toolkit.fluxcd.io "fleet" not found',
    'SourceMissing',
    'its source GitRepository fleet is not in the shoot; create it there, or correct sourceRef in kustomization.template.spec of the providerConfig',
  ],
  [
    kustomization,
    released,
    'ocirepositories.source.toolkit.fluxcd.io "fleet" not found',
    'SourceMissing',
    'its source OCIRepository fleet is not in the shoot; create it there, or correct sourceRef in spec of Kustomization flux-system/main-ks in the shoot',
  ],
  [
    kustomization,
    providerConfig,
    "source `fleet` kind 'Repository' not supported",
    'SourceMissing',
    'kustomize-controller knows no source of kind Repository',
  ],
  [
    kustomization,
    providerConfig,
    'unable to get source \'flux-system/fleet\': Get "https://100.64.0.1:443/apis": dial tcp 100.64.0.1:443: connect: connection refused',
    'ApiServerNotAvailable',
    'did not answer kustomize-controller now; it is tried again',
  ],
  [
    kustomization,
    providerConfig,
    "can't access 'ExternalArtifact/flux-system/x', ExternalArtifact feature gate is disabled",
    'FeatureDisabled',
    'add source-watcher to the components',
  ],
  [
    kustomization,
    providerConfig,
    'to use spec.decryption.serviceAccountName for decryption authentication please enable the ObjectLevelWorkloadIdentity feature gate in the controller',
    'FeatureDisabled',
    'remove serviceAccountName from kustomization.template.spec.decryption',
  ],
  [
    kustomization,
    providerConfig,
    "Reconciliation failed terminally due to configuration error: terminal error: failed to evaluate dependency infra: failed to parse the CEL expression 'x('",
    'ExpressionInvalid',
    'correct readyExpr of dependsOn in kustomization.template.spec',
  ],
  [
    kustomization,
    providerConfig,
    'unable to read KubeConfig secret \'flux-system/remote\' error: Secret "remote" not found',
    'KubeConfigUnusable',
    'the kubeconfig in Secret flux-system/remote cannot be used',
  ],
  [
    kustomization,
    fluxConfig,
    "failed to verify archive: computed digest doesn't match provided 'sha256:18db1c40' (check whether file size exceeds max download size)",
    'ArtifactUnusable',
    'restart source-controller',
  ],
  [
    kustomization,
    fluxConfig,
    'tmp dir error: mkdir /tmp/kustomization-1: no space left on device',
    'StorageFull',
    '.sourceignore',
  ],
  [
    kustomization,
    providerConfig,
    'Secret "sops-age" not found',
    'DecryptionKeyMissing',
    'Secret sops-age with the keys for decryption is not in the shoot',
    additional,
  ],
  [
    kustomization,
    fluxConfig,
    "kustomize build failed: accumulating resources: accumulation err='merging resources from 'b.yaml': may not add resource with an already registered id: Namespace.v1.[noGrp]/apps.[noNs]'",
    'BuildFailed',
    'Namespace.v1.[noGrp]/apps.[noNs] is there twice',
  ],
  [
    kustomization,
    fluxConfig,
    'kustomize build failed: no matches for Id Deployment.v1.apps/a.[noNs]; failed to find unique target for patch Deployment.v1.apps/a.[noNs]',
    'BuildFailed',
    'a patch or replacement is for Deployment.v1.apps/a.[noNs], which is not there',
  ],
  [
    kustomization,
    fluxConfig,
    "kustomize build failed: accumulating resources: accumulation err='accumulating resources from 'apps/a.yaml': MalformedYAMLError: yaml: line 3: mapping values are not allowed in this context in File: apps/a.yaml': evalsymlink failure",
    'BuildFailed',
    'apps/a.yaml is no YAML at line 3',
  ],
  [
    kustomization,
    fluxConfig,
    'failed to decode Kubernetes apiVersion, kind and name from: apiVersion: v1\ndata:\n  pin: MTIz\nkind: Secret\n',
    'BuildFailed',
    'one of its manifests has no apiVersion, kind or name',
    'the message is withheld',
  ],
  [
    kustomization,
    providerConfig,
    "component path '../shared' must be local and relative",
    'BuildFailed',
    'the component ../shared is not below its path',
  ],
  [
    kustomization,
    providerConfig,
    'New reconciliation triggered by GitRepository/flux-system/fleet',
    'HealthCheckCanceled',
    'a newer revision came',
  ],
  [
    kustomization,
    fluxConfig,
    'HelmRelease/apps/a dry-run failed: request to convert CR to an invalid group/version: helm.toolkit.fluxcd.io/v2beta1',
    'MigrationNeeded',
    'run "flux migrate" against the Shoot',
  ],
  [
    kustomization,
    fluxConfig,
    'Job/apps/a immutable field detected, failed to delete object: jobs.batch "a" not found',
    'ApplyFailed',
    'Job/apps/a is to be made anew, and does not go',
  ],
  [
    kustomization,
    fluxConfig,
    'Deployment/apps/a dry-run failed: failed to create typed patch object (apps/a; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema',
    'ApplyFailed',
    'the API server does not accept .spec.replica of Deployment/apps/a',
  ],
  [
    kustomization,
    fluxConfig,
    'PersistentVolumeClaim/apps/a dry-run failed (Invalid): PersistentVolumeClaim "a" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
    'ApplyFailed',
    'field spec of PersistentVolumeClaim/apps/a cannot be changed',
  ],
  [
    kustomization,
    fluxConfig,
    'ClusterRole/a dry-run failed (Forbidden): clusterroles.rbac.authorization.k8s.io "a" is forbidden: user "system:serviceaccount:apps:deployer" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    'ApplyFailed',
    '"system:serviceaccount:apps:deployer" may not write ClusterRole/a',
  ],
  [
    kustomization,
    fluxConfig,
    'Deployment/apps/a dry-run failed (Timeout): the server was unable to return a response in the time allotted, but may still be processing requests',
    'ApiServerNotAvailable',
    'it is tried again',
  ],
  [
    kustomization,
    providerConfig,
    "health check failed after 30.1s: timeout waiting for: [can't determine status for Deployment/apps/a]",
    'HealthCheckFailed',
    ': Deployment/apps/a does not get ready',
  ],
];

describe('explain', () => {
  it.each(told)('$0.kind, $1.from: $2', (object, origin, message, reason, ...named) => {
    const explanation = explain(object, message, origin);
    expect(explanation.reason).toBe(reason);
    for (const text of named) expect(explanation.message).toContain(text);
    expect(explanation.message).toMatch(
      new RegExp(`^${object.kind} flux-system/${object.metadata.name}: [^;]+; .+\\. Flux says: `, 's'),
    );
  });

  it('every failure that is known has its example', () => {
    const seen = told.map(([{ kind }, , message]) =>
      (kind === 'Kustomization' ? kustomizationFailures : sourceFailures).find(
        ({ kinds, matches }) => (kinds === undefined || kinds.includes(kind)) && matches.test(message),
      ),
    );
    const unseen = [...sourceFailures, ...kustomizationFailures].filter((failure) => !seen.includes(failure));
    expect(unseen.map(({ reason, matches }) => `${reason} ${matches}`)).toEqual([]);
  });

  it('trap 21: a code that is tried again for whatever a user can mend, none for what only takes time', () => {
    const transient = [
      ...['SourceNotReady', 'DependencyNotReady', 'HealthCheckCanceled', 'ApiServerNotAvailable'],
      ...['ServerFailed', 'IncludeNotReady'],
    ];
    for (const [object, origin, message, reason] of told) {
      const isTransient = transient.includes(reason);
      const codes = isTransient ? [] : ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];
      expect(explain(object, message, origin).codes, message).toEqual(codes);
    }
  });

  it('what Flux says is quoted whole, when it is short and holds no secret', () => {
    const short = told.filter(([, , { length }]) => length <= LONGEST_QUOTE);
    for (const [object, origin, message] of short.filter(
      ([, , message]) => !/kind: Secret|Invalid value/.test(message),
    )) {
      expect(explain(object, message, origin).message.endsWith(message.replace(/\s+/g, ' ').trim()), message).toBe(
        true,
      );
    }
  });

  it('no value that was filled in from a Secret', () => {
    const { decryption: _, ...spec } = kustomization.spec as Record<string, unknown>;
    const plain = { ...kustomization, spec };
    const filled = { ...plain, spec: { ...spec, postBuild: { substituteFrom: [{ kind: 'Secret', name: 'vars' }] } } };
    for (const value of ['"s3cr3t, \\"quoted\\" and long"', '{"a":"s3cr3t"}', 's3cr3t']) {
      const refused = `ConfigMap/apps/a dry-run failed (Invalid): ConfigMap "a" is invalid: metadata.labels: Invalid value: ${value}: a valid label must be`;
      expect(explain(plain, refused, fluxConfig).message).toContain(value);
      expect(explain(filled, refused, fluxConfig).message).toContain('Invalid value: "***": a valid label must be');
      expect(explain(kustomization, refused, fluxConfig).message).not.toContain('s3cr3t');
    }
    const mistyped =
      'ConfigMap/apps/a dry-run failed: failed to create typed patch object (apps/a; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":"s3cr3t"}}';
    expect(explain(filled, mistyped, fluxConfig).message).not.toContain('s3cr3t');
  });

  it('a webhook denies, whatever it says', () => {
    for (const [, , message] of told) {
      const denied = `Deployment/apps/a dry-run failed (Forbidden): admission webhook "w" denied the request: ${message}`;
      expect(explain(kustomization, denied, fluxConfig)).toMatchObject({
        ...{ reason: 'ApplyFailed', codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'] },
        message: expect.stringContaining(': the admission webhook "w" denies Deployment/apps/a; correct it'),
      });
    }
  });

  it('whatever is said, it is one line of bounded length about the object, with no other code', () => {
    const objects = [overSsh, overHttps, oci, bucket, kustomization];
    const part = fc.oneof(fc.constantFrom(...told.map(([, , message]) => message)), fc.string(), fc.webUrl());
    const parts = fc.array(part, { minLength: 1, maxLength: 3 }).map((texts) => texts.join(': '));
    fc.assert(
      fc.property(fc.constantFrom(...objects), fc.constantFrom(fluxConfig, released), parts, (object, origin, text) => {
        const { message, codes } = explain(object, text, origin);
        expect(message.startsWith(`${object.kind} flux-system/${object.metadata.name}: `)).toBe(true);
        expect(message).not.toContain('\n');
        expect(message.length).toBeLessThan(2 * LONGEST_QUOTE + 300);
        expect(['', 'ERR_RETRYABLE_CONFIGURATION_PROBLEM']).toContain(codes.join());
      }),
      { numRuns: 2000 },
    );
  });

  it('what nobody knows is told as it is', () => {
    expect(explain(open, 'building artifact', fluxConfig)).toEqual({
      message: 'GitRepository flux-system/main-gitrepo: building artifact',
      codes: [],
    });
  });

  it('never a secret, wherever it stands, and never endless', () => {
    const url = 'https://user:s3cr3t@git.example.com/org/fleet';
    const withPassword = gitRepository({ url });
    const { message } = explain(withPassword, `${checkout} clone '${url}': authentication required`, released);
    expect(message).toContain('https://***@git.example.com/org/fleet may not be read');
    expect(message).not.toContain('s3cr3t');
    const denied = 'Secret/apps/a dry-run failed (Forbidden): admission webhook "w" denied the request: value s3cr3t';
    expect(explain(kustomization, denied, fluxConfig).message).not.toContain('s3cr3t');
    expect(explain(kustomization, denied, fluxConfig).message).toContain('the admission webhook "w" denies Secret/');
    const mistyped = 'Secret/apps/a dry-run failed: failed to create typed patch object (apps/a; /v1, Kind=Secret): ';
    const pin = `${mistyped}.stringData.pin: expected string, got &value.valueUnstructured{Value:123456}`;
    expect(explain(kustomization, pin, fluxConfig).message).toContain('does not accept .stringData.pin of Secret/');
    expect(explain(kustomization, pin, fluxConfig).message).not.toContain('123456');
    const long = `kustomize build failed: ${'accumulating resources '.repeat(900)}`;
    expect(explain(kustomization, long, fluxConfig).message.length).toBeLessThan(LONGEST_QUOTE + 300);
  });
});
