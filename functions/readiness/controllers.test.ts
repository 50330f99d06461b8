import { describe, expect, it } from 'vitest';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { controllersVerdict, lateControllers } from './controllers.ts';
import { neededReferences, pullReport, type Reference, referenceReport } from './observe-pods.ts';
import { applied, deployment, deployments } from './shoot.testing.ts';
import type { Previous } from './verdict.ts';

const nothing: Previous = { conditions: [], now: new Date() };
const verdictOn = (record: Applied, found: KubeObject[]) => controllersVerdict(record, { deployments: found }, nothing);

describe('controllersVerdict', () => {
  it.each([
    [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' },
      'pods "source-controller-5b" is forbidden: exceeded quota: critical-pods, requested: pods=1, used: pods=0, limited: pods=0',
      'the ResourceQuota "critical-pods" of the shoot has no room for them; raise it',
      ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    ],
    [
      { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' },
      'pods "source-controller-5b" is forbidden: violates PodSecurity "restricted:latest": unrestricted capabilities',
      'the namespace enforces the Pod Security Standard "restricted:latest"',
      ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    ],
    [
      { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
      'ReplicaSet "source-controller-5b" has timed out progressing.',
      'nodes may be missing, or images cannot be pulled',
      undefined,
    ],
  ])('explains why controllers do not become available: %j', (condition, message, remedy, codes) => {
    const waiting = { ...deployment('source-controller', 0), status: { conditions: [{ ...condition, message }] } };
    const verdict = verdictOn(applied, [waiting, ...deployments.slice(1)]);
    expect(verdict).toMatchObject({ status: 'False', message: expect.stringContaining(remedy) });
    expect(verdict.message).toMatch(/^Not available: source-controller; /);
    expect(verdict.codes).toEqual(codes);
  });

  it('counts the controllers of shards that were applied', () => {
    const refs = ['source-controller', 'source-controller-one'].map((name) => `Deployment.apps/flux-system/${name}`);
    const sharded = { ...applied, objects: { ...applied.objects, 'shoot-flux-controllers': refs } };
    const one = (available: number) => [deployment('source-controller-one', available)];
    expect(verdictOn(sharded, [...deployments, ...one(1)])).toMatchObject({ status: 'True' });
    for (const shard of [one(0), []])
      expect(verdictOn(sharded, [...deployments, ...shard]).message).toBe('Not available yet: source-controller-one.');
  });

  it.each([
    ['the pod of the previous release is still running', deployment('source-controller', 1, { replicas: 2 })],
    ['the new pod does not exist yet', deployment('source-controller', 1, { updatedReplicas: 0 })],
    ['the status is of a previous generation', deployment('source-controller', 1, { observedGeneration: 0 })],
  ])('does not report a release as available before its rollout is complete: %s', (_, waiting) => {
    const verdict = verdictOn(applied, [waiting, ...deployments.slice(1)]);
    expect(verdict).toMatchObject({ status: 'False', message: expect.stringMatching(/^Not available yet: source-c/) });
  });

  it('shortens the messages of Kubernetes about rejected pods and removes secrets', () => {
    const message = `exceeded quota: https://user:s3cr3t@example.com/${'x'.repeat(9000)}`;
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message }];
    const verdict = verdictOn(applied, [deployment('source-controller', 0, { conditions })]);
    expect(verdict.message.length).toBeLessThan(1500);
    expect(verdict.message).not.toContain('s3cr3t');
  });

  it('reports the Flux release that runs, which users may change once Flux is released', () => {
    const labels = { 'app.kubernetes.io/version': 'v2.10.1' };
    const own = deployments.map((one) => ({ ...one, metadata: { ...one.metadata, labels } }));
    expect(verdictOn(applied, own).message).toBe('Flux v2.10.1 is running.');
    expect(verdictOn(applied, deployments).message).toBe(`Flux ${applied.fluxVersion} is running.`);
  });

  it('reports controllers that are scaled to 0 replicas', () => {
    const off = { ...deployment('source-controller', 0, { replicas: 0, updatedReplicas: 0 }), spec: { replicas: 0 } };
    expect(verdictOn(applied, [off, ...deployments.slice(1)]).message).toContain(
      'Not available: source-controller; some are scaled to 0 replicas; scale them',
    );
  });
});

const image = 'registry.example.com/fluxcd/source-controller:v1.9.1';
const registry = { object: 'ConfigMap garden-foo/flux-config', path: 'registry' };
const imagePullSecret = { object: 'providerConfig', path: 'flux.imagePullSecret' };
const managed: Applied = {
  ...applied,
  managedResources: { 'shoot-flux-controllers': 'x' },
  imagePlaces: { registry, imagePullSecret },
};
const pod = (reason: string, message: string, secrets: string[] = [], name = image): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'source-controller-5b' },
  spec: { imagePullSecrets: secrets.map((secret) => ({ name: secret })) },
  status: { containerStatuses: [{ name: 'manager', image: name, state: { waiting: { reason, message } } }] },
});
const stopped = deployment('source-controller', 0);
/** Its former Pod is available beside the new one. */
const former = deployment('kustomize-controller', 1, { replicas: 2 });

function pullVerdict(pods: KubeObject[], missingSecrets: string[] = [], record = managed, previous = nothing) {
  const found = {
    deployments: [stopped, former, ...deployments.slice(2)],
    pods: pullReport(record, pods, missingSecrets),
  };
  return controllersVerdict(record, found, previous);
}

const end = ' Not available until then: source-controller. The former Pods of kustomize-controller still run.';
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const pulling = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": `;
const user = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];

const orRegistry = 'or correct registry in ConfigMap garden-foo/flux-config.';

/** Sentences that a user has to act on -> Pods with messages of containerd and cri-o that get them. */
const toCorrect: Record<string, KubeObject[]> = {
  [`the registry denies access to image "${image}"; name a pull secret (flux.imagePullSecret of the providerConfig), create Secret flux-registry in the project, ${orRegistry}`]:
    [pod('ErrImagePull', `${pulling}unexpected status from HEAD request to https://a.example: 401 Unauthorized`)],
  [`the registry denies access to image "${image}"; correct the credentials in the original of Secret flux-system/mine, ${orRegistry}`]:
    [pod('ErrImagePull', 'pull access denied, insufficient_scope: authorization failed', ['mine'])],
  [`the registry denies access to image "${image}"; correct the credentials in Secret flux-registry in the project, ${orRegistry}`]:
    [
      pod('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: ${pulling}403 Forbidden`, [
        'flux-registry',
      ]),
    ],
  [`the registry has no image "${image}"; copy it there, ${orRegistry}`]: [
    pod('ErrImagePull', `rpc error: code = NotFound desc = ${pulling}${image}: not found`),
    pod('ErrImagePull', 'reading manifest sha256:403429: manifest unknown: OCI index found, but its digest is another'),
  ],
  [`image "${image}" is no valid name of an image; correct registry in ConfigMap garden-foo/flux-config.`]: [
    pod('InvalidImageName', `couldn't parse image name "${image}": invalid reference format`),
  ],
  [`the nodes do not trust the registry of image "${image}"; give its certificate to the nodes, ${orRegistry}`]: [
    pod('ErrImagePull', `${pulling}tls: failed to verify certificate: x509: certificate signed by unknown authority`),
  ],
};
/** The same for sentences about what may pass. */
const toRetry: Record<string, KubeObject[]> = {
  [`the nodes do not reach the registry of image "${image}"; allow them to (firewall, proxy), ${orRegistry}`]: [
    pod('ErrImagePull', `${pulling}Head "https://a.example/v2": dial tcp: lookup a.example: no such host`),
  ],
  [`the registry limits how often image "${image}" is pulled; use credentials (flux.imagePullSecret of the providerConfig), or a mirror (registry in ConfigMap garden-foo/flux-config).`]:
    [pod('ErrImagePull', `${pulling}429 Too Many Requests: toomanyrequests: You have reached your pull rate limit`)],
  // The kubelet of an older release does not repeat the cause.
  [`image "${image}" cannot be pulled; check registry in ConfigMap garden-foo/flux-config and flux.imagePullSecret of the providerConfig.`]:
    [pod('ImagePullBackOff', `Back-off pulling image "${image}"`)],
};
const rows = [toCorrect, toRetry].flatMap((sentences) =>
  Object.entries(sentences).flatMap(([sentence, pods]) =>
    pods.map((waiting) => ({ sentence, waiting, codes: sentences === toCorrect ? user : undefined })),
  ),
);

describe('a Secret or ConfigMap that a Pod does not start without', () => {
  const waiting = (reason: string, spec: object, message?: string): KubeObject => ({
    ...pod(reason, message ?? ''),
    spec: { imagePullSecrets: [{ name: 'pull' }], ...spec },
  });
  const volumes = (...list: object[]) => ({ volumes: list });
  const env = (entry: object) => ({ containers: [{ name: 'manager', ...entry }] });
  const x = { name: 'x' };

  it.each<[string, object, string[]]>([
    ['a volume', volumes({ name: 'a', secret: { secretName: 'x' } }), ['Secret x']],
    ['a volume of a ConfigMap', volumes({ name: 'a', configMap: x }), ['ConfigMap x']],
    [
      'a projected volume',
      volumes({
        projected: { sources: [{ secret: x }, { configMap: x }, { configMap: { name: 'kube-root-ca.crt' } }] },
      }),
      ['Secret x', 'ConfigMap x'],
    ],
    ['variables', env({ envFrom: [{ secretRef: x }, { configMapRef: x }] }), ['Secret x', 'ConfigMap x']],
    ['a variable', env({ env: [{ name: 'A', valueFrom: { secretKeyRef: { ...x, key: 'a' } } }] }), ['Secret x']],
    ['nothing that is optional', env({ envFrom: [{ secretRef: { ...x, optional: true } }] }), []],
  ])('is named by %s', (_what, spec, names) => {
    const found = neededReferences([waiting('ContainerCreating', spec)]);
    expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual(names);
    expect(neededReferences([waiting('CrashLoopBackOff', spec)])).toEqual([]);
  });

  const verdict = (pods: KubeObject[], missing: Reference[], record = managed) => {
    const found = {
      deployments: [stopped, former, ...deployments.slice(2)],
      pods: referenceReport(record, pods, missing),
    };
    return controllersVerdict(record, found, nothing);
  };

  it('is named with the remedy', () => {
    const said = 'secret "x" not found';
    const { message, ...rest } = verdict(
      [waiting('CreateContainerConfigError', {}, said)],
      [{ kind: 'Secret', name: 'x' }],
    );
    expect(message).toBe(
      `Pods of Flux do not start without Secret flux-system/x, which the shoot does not have; copy it with additionalSecretResources, create it there, or correct the entry of flux.patches that names it.${end} Kubernetes says: ${said}`,
    );
    expect(rest).toEqual({ type: 'FluxReady', status: 'False', reason: 'ReferenceMissing', codes: user });
    const released = verdict([waiting('ContainerCreating', {})], [{ kind: 'ConfigMap', name: 'x' }], {
      ...managed,
      managedResources: {},
    });
    expect(released.message).toContain('ConfigMap flux-system/x, which the shoot does not have; ');
    expect(released.message).toContain('or correct the Deployment in the shoot.');
    const project = verdict([], [{ kind: 'Secret', name: 'flux-sops' }]);
    expect(project.message).toContain('create Secret flux-sops in the project again.');
  });

  it('may lack a key', () => {
    const said = "couldn't find key token in Secret flux-system/x";
    expect(verdict([waiting('CreateContainerConfigError', {}, said)], []).message).toContain(
      'Pods of Flux do not start, because Secret flux-system/x has no key token; add it to the original of the Secret, or correct',
    );
    expect(referenceReport(managed, [waiting('ContainerCreating', {})], [])).toBeUndefined();
  });
});

describe('an image that cannot be pulled', () => {
  it.each(rows)('$sentence', ({ sentence, waiting, codes }) => {
    const { message, ...verdict } = pullVerdict([waiting]);
    expect(message).toBe(`${capital(sentence)}${end} Kubernetes says: ${waitingMessage(waiting)}`);
    expect(verdict).toEqual({ type: 'FluxReady', status: 'False', reason: 'ImageNotPulled', ...(codes && { codes }) });
  });

  it.each([
    [
      'mine',
      'copy it with additionalSecretResources, create it there, or correct flux.imagePullSecret of the providerConfig.',
    ],
    ['flux-registry', 'create Secret flux-registry in the project again.'],
    ['shoot-flux-pull-secret', "ask the operators for the landscape's pull secret."],
  ])('says first that the shoot lacks the pull secret %s', (name, remedy) => {
    const { message, codes } = pullVerdict([pod('ErrImagePull', 'not found', [name])], [name]);
    expect(message).toBe(
      `Image "${image}" cannot be pulled without Secret flux-system/${name}, which the shoot does not have; ${remedy}${end} Kubernetes says: not found`,
    );
    expect(codes).toEqual(user);
  });

  it('names what the configuration could have, and the Deployment once it is released', () => {
    const waiting = [pod('ErrImagePull', 'not found')];
    const { imagePlaces: _, ...without } = managed;
    expect(pullVerdict(waiting, [], without).message).toContain('or correct registry in the configuration. ');
    const patches = { object: 'providerConfig', path: 'flux.patches' };
    const patched = { ...managed, imagePlaces: { registry, patches } };
    expect(pullVerdict(waiting, [], patched).message).toContain(
      'or correct registry in ConfigMap garden-foo/flux-config, or the patch of the image in flux.patches of the providerConfig. ',
    );
    expect(pullVerdict(waiting, [], { ...managed, managedResources: {} }).message).toContain(
      'or correct the image of the Deployment in the shoot. ',
    );
  });

  it('keeps what was published while only the words of the kubelet change', () => {
    const first = pullVerdict([pod('ErrImagePull', 'not found (1)')]);
    const published = { ...first, lastTransitionTime: '', lastUpdateTime: '' };
    const again = (waiting: KubeObject) =>
      pullVerdict([waiting], [], managed, { conditions: [published], now: new Date() }).message;
    expect(again(pod('ErrImagePull', 'not found (2)'))).toBe(first.message);
    expect(again(pod('ImagePullBackOff', `Back-off pulling image "${image}"`))).toBe(first.message);
    expect(again(pod('ErrImagePull', '401 Unauthorized'))).toContain('denies access');
    expect(again(pod('ImagePullBackOff', 'Back-off', [], 'other'))).toContain('Image "other" cannot be pulled');
  });

  it('is looked for only where a controller has been about to change for a while', () => {
    const since = (lastUpdateTime: string) =>
      deployment('source-controller', 0, { conditions: [{ type: 'Progressing', status: 'True', lastUpdateTime }] });
    const now = new Date('2026-01-02T03:04:25Z');
    const names = (first: KubeObject) => lateControllers(applied, [first, ...deployments.slice(1)], now);
    expect(names(since('2026-01-02T03:04:05Z'))).toEqual(['source-controller']);
    expect(names(since('2026-01-02T03:04:06Z'))).toEqual([]);
    expect(names(deployment('source-controller', 0))).toEqual([]);
    expect(lateControllers(applied, deployments, now)).toEqual([]);
  });

  it('never quotes secrets, nor more than a part of a long message', () => {
    const long = `https://user:s3cr3t@registry.example.com/${'x'.repeat(9000)}`;
    const { message } = pullVerdict([pod('ErrImagePull', long, [long], long)], [long]);
    expect(message).not.toContain('s3cr3t');
    expect(message.length).toBeLessThan(2500);
  });
});

function waitingMessage({ status }: KubeObject): string {
  const { containerStatuses } = status as { containerStatuses: { state: { waiting: { message: string } } }[] };
  return containerStatuses[0]?.state.waiting.message ?? '';
}
