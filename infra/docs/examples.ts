import { RECONCILE_AT } from '../../shared/config/project-config.ts';

/** A complete ConfigMap `flux-config`. */
export const FLUX_CONFIG_EXAMPLE = `apiVersion: v1
kind: ConfigMap
metadata:
  name: flux-config
  namespace: garden-my-project
data:
  fluxVersion: 2.9.x
  repositoryUrl: ssh://git@github.com/my-org/fleet
  repositoryBranch: main
  repositoryType: private
  repositoryPath: ./clusters/production
  componentsExtra: image-reflector-controller, image-automation-controller
  syncMode: ManifestsOnly
`;

/** A complete Shoot, as far as this extension is concerned. */
export const SHOOT_EXAMPLE = `apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: my-shoot
  namespace: garden-my-project
spec:
  extensions:
    - type: shoot-flux
      providerConfig:
        apiVersion: flux.extensions.gardener.cloud/v1alpha1
        kind: FluxConfig
        flux:
          version: v2.9.4
          registry: registry.example.com/fluxcd
          imagePullSecret: registry-credentials
        source:
          template:
            apiVersion: source.toolkit.fluxcd.io/v1
            kind: OCIRepository
            spec:
              url: oci://registry.example.com/fleet/manifests
              ref: { semver: ">=1.0.0" }
          secretResourceName: fleet-registry
        kustomization:
          template:
            spec:
              path: ./clusters/production
              prune: true
              decryption: { provider: sops, secretRef: { name: sops-age } }
              postBuild:
                substituteFrom: [{ kind: ConfigMap, name: shoot-info }, { kind: ConfigMap, name: production-variables }]
        additionalSecretResources:
          - name: sops
            targetName: sops-age
          - name: registry-credentials
          - name: variables
        syncMode: Reconcile
  resources:
    - name: fleet-registry
      resourceRef: { apiVersion: v1, kind: Secret, name: fleet-registry }
    - name: sops
      resourceRef: { apiVersion: v1, kind: Secret, name: production-age-key }
    - name: registry-credentials
      resourceRef: { apiVersion: v1, kind: Secret, name: registry-credentials }
    - name: variables
      resourceRef: { apiVersion: v1, kind: ConfigMap, name: production-variables }
`;

/** The `overrides.yaml` of a project: deviations for some Shoots. */
export const OVERRIDES_EXAMPLE = `- selector: { matchLabels: { stage: dev } }
  config:
    flux: { version: 2.9.x }
    kustomization: { patch: { spec: { path: ./clusters/dev } } }
- selector: { matchExpressions: [{ key: team, operator: In, values: [blue, green] }] }
  config:
    flux: { componentsExtra: [image-reflector-controller, image-automation-controller] }
`;

/** A providerConfig that changes two fields of the project's Kustomization. */
export const PATCH_EXAMPLE = `apiVersion: flux.extensions.gardener.cloud/v1alpha1
kind: FluxConfig
kustomization:
  patch:
    spec:
      path: ./clusters/staging
      interval: 1m
`;

const kubectl = (command: string) => `kubectl -n garden-my-project ${command}`;
const annotate = (operation: string) => kubectl(`annotate configmap flux-config gardener.cloud/operation=${operation}`);

/** A providerConfig with several objects of each kind. */
export const OBJECTS_EXAMPLE = `apiVersion: flux.extensions.gardener.cloud/v1alpha1
kind: FluxConfig
sources:
  - template:
      kind: GitRepository
      spec: { url: https://github.com/my-org/fleet, ref: { branch: main } }
  - template:
      kind: GitRepository
      metadata: { name: apps }
      spec: { url: https://github.com/my-org/apps, ref: { tag: v1.4.2 } }
kustomizations:
  - template:
      spec: { path: ./infrastructure, prune: true, wait: true }
  - template:
      metadata: { name: apps }
      spec:
        path: ./production
        prune: true
        sourceRef: { kind: GitRepository, name: apps }
        dependsOn: [{ name: flux-system }]
objects:
  - kind: HelmRepository
    metadata: { name: charts }
    spec: { interval: 1h, url: https://charts.example.com }
  - kind: HelmRelease
    metadata: { name: ingress }
    spec:
      interval: 1h
      chart: { spec: { chart: ingress, version: 4.x, sourceRef: { kind: HelmRepository, name: charts } } }
  - kind: Provider
    metadata: { name: chat }
    spec: { type: slack, channel: operations, secretRef: { name: chat-address } }
  - kind: Alert
    metadata: { name: errors }
    spec:
      providerRef: { name: chat }
      eventSeverity: error
      eventSources: [{ kind: Kustomization, name: "*" }, { kind: HelmRelease, name: "*" }]
existingSecrets: [chat-address]
`;

/** Asks Flux in all Shoots of a project, or in one, to reconcile now. */
export const RECONCILE_COMMANDS = {
  project: kubectl(`annotate --overwrite configmap flux-config ${RECONCILE_AT}="$(date +%s)"`),
  shoot: kubectl(
    `annotate --overwrite shoot my-shoot ${RECONCILE_AT}="$(date +%s)" gardener.cloud/operation=reconcile`,
  ),
} as const;

/** The steps of a key rotation, in order. */
export const ROTATION_COMMANDS = {
  start: annotate('rotate-ssh-keypair-start'),
  publicKey: kubectl(
    "get secret flux-source -o jsonpath='{.metadata.annotations.flux\\.extensions\\.gardener\\.cloud/next-public-key}'",
  ),
  events: kubectl('get events --field-selector involvedObject.name=flux-config'),
  complete: annotate('rotate-ssh-keypair-complete'),
  giveUp: kubectl(
    `patch secret flux-source --type=merge -p '{"data":{"identity.next":null,"identity.next.pub":null}}'`,
  ),
};

/** Patches of the installation, in a FluxConfig. */
export const PATCHES_EXAMPLE = `flux:
  patches:
    # A list of operations: JSON 6902.
    - target: { kind: Deployment, name: (kustomize|helm)-controller }
      patch: |
        - op: add
          path: /spec/template/spec/containers/0/args/-
          value: --requeue-dependency=5s
    # An object: a strategic merge.
    - target: { kind: Deployment, labelSelector: app.kubernetes.io/component=source-controller }
      patch: |
        kind: Deployment
        metadata: { name: any }
        spec:
          template:
            metadata:
              annotations:
                cluster-autoscaler.kubernetes.io/safe-to-evict: "true"
    - target: { kind: NetworkPolicy, name: allow-egress }
      patch: |
        kind: NetworkPolicy
        metadata: { name: any }
        $patch: delete
`;

/** The key `rollout` of `flux-config`. */
export const ROLLOUT_EXAMPLE = `maxInProgress: 10%
maxFailed: 5%
order: stage
`;
