import { describe, expect, it } from 'vitest';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { controllersVerdict, lateControllers } from './controllers.ts';
import { pullReport } from './observe-pods.ts';
import { applied, deployment, deployments } from './shoot.testing.ts';
import type { Previous } from './verdict.ts';

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
const nothing: Previous = { conditions: [], now: new Date() };

function verdictOn(pods: KubeObject[], missingSecrets: string[] = [], record = managed, previous = nothing) {
  const found = {
    deployments: [stopped, former, ...deployments.slice(2)],
    pull: pullReport(record, pods, missingSecrets),
  };
  return controllersVerdict(record, found, previous);
}

const end = ' Not available until then: source-controller. The former Pods of kustomize-controller still run.';
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
const pulling = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": `;
const user = ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'];

/** Messages of containerd and cri-o -> the sentence, and whether a user has to correct it. */
const cases: [string, KubeObject, string, string[] | undefined][] = [
  [
    'without credentials',
    pod(
      'ErrImagePull',
      `${pulling}unexpected status from HEAD request to https://registry.example.com: 401 Unauthorized`,
    ),
    `the registry denies access to image "${image}"; name a pull secret (flux.imagePullSecret of the providerConfig), create Secret flux-registry in the project, or correct registry in ConfigMap garden-foo/flux-config.`,
    user,
  ],
  [
    'with wrong credentials',
    pod('ErrImagePull', 'pull access denied, insufficient_scope: authorization failed', ['mine']),
    `the registry denies access to image "${image}"; correct the credentials in the original of Secret flux-system/mine, or correct registry in ConfigMap garden-foo/flux-config.`,
    user,
  ],
  [
    'with wrong credentials of the project',
    pod('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: ${pulling}403 Forbidden`, [
      'flux-registry',
    ]),
    `the registry denies access to image "${image}"; correct the credentials in Secret flux-registry in the project, or correct registry in ConfigMap garden-foo/flux-config.`,
    user,
  ],
  [
    'not in the registry',
    pod('ErrImagePull', `rpc error: code = NotFound desc = ${pulling}${image}: not found`),
    `the registry has no image "${image}"; copy it there, or correct registry in ConfigMap garden-foo/flux-config.`,
    user,
  ],
  [
    'a digest that the registry does not have',
    pod('ErrImagePull', 'reading manifest sha256:403429: manifest unknown: OCI index found, but its digest is another'),
    `the registry has no image "${image}"; copy it there, or correct registry in ConfigMap garden-foo/flux-config.`,
    user,
  ],
  [
    'a name that is none',
    pod('InvalidImageName', `couldn't parse image name "${image}": invalid reference format`),
    `image "${image}" is no valid name of an image; correct registry in ConfigMap garden-foo/flux-config.`,
    user,
  ],
  [
    'a certificate of a private CA',
    pod('ErrImagePull', `${pulling}tls: failed to verify certificate: x509: certificate signed by unknown authority`),
    `the nodes do not trust the registry of image "${image}"; give its certificate to the nodes, or correct registry in ConfigMap garden-foo/flux-config.`,
    user,
  ],
  [
    'a host that does not exist',
    pod(
      'ErrImagePull',
      `${pulling}Head "https://registry.example.com/v2": dial tcp: lookup registry.example.com: no such host`,
    ),
    `the nodes do not reach the registry of image "${image}"; allow them to (firewall, proxy), or correct registry in ConfigMap garden-foo/flux-config.`,
    undefined,
  ],
  [
    'a limit of the registry',
    pod('ErrImagePull', `${pulling}429 Too Many Requests: toomanyrequests: You have reached your pull rate limit`),
    `the registry limits how often image "${image}" is pulled; use credentials (flux.imagePullSecret of the providerConfig), or a mirror (registry in ConfigMap garden-foo/flux-config).`,
    undefined,
  ],
  [
    'a cause that the kubelet of an older release does not repeat',
    pod('ImagePullBackOff', `Back-off pulling image "${image}"`),
    `image "${image}" cannot be pulled; check registry in ConfigMap garden-foo/flux-config and flux.imagePullSecret of the providerConfig.`,
    undefined,
  ],
];

describe('an image that cannot be pulled', () => {
  it.each(cases)('%s', (_what, waiting, sentence, codes) => {
    const { message, ...verdict } = verdictOn([waiting]);
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
    const { message, codes } = verdictOn([pod('ErrImagePull', 'not found', [name])], [name]);
    expect(message).toBe(
      `Image "${image}" cannot be pulled without Secret flux-system/${name}, which the shoot does not have; ${remedy}${end} Kubernetes says: not found`,
    );
    expect(codes).toEqual(user);
  });

  it('names what the configuration could have, and the Deployment once it is released', () => {
    const waiting = [pod('ErrImagePull', 'not found')];
    const { imagePlaces: _, ...without } = managed;
    expect(verdictOn(waiting, [], without).message).toContain('or correct registry in the configuration. ');
    const patches = { object: 'providerConfig', path: 'flux.patches' };
    const patched = { ...managed, imagePlaces: { registry, patches } };
    expect(verdictOn(waiting, [], patched).message).toContain(
      'or correct registry in ConfigMap garden-foo/flux-config, or the patch of the image in flux.patches of the providerConfig. ',
    );
    expect(verdictOn(waiting, [], { ...managed, managedResources: {} }).message).toContain(
      'or correct the image of the Deployment in the shoot. ',
    );
  });

  it('keeps what was published while only the words of the kubelet change', () => {
    const first = verdictOn([pod('ErrImagePull', 'not found (1)')]);
    const published = { ...first, lastTransitionTime: '', lastUpdateTime: '' };
    const again = (waiting: KubeObject) =>
      verdictOn([waiting], [], managed, { conditions: [published], now: new Date() }).message;
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
    const { message } = verdictOn([pod('ErrImagePull', long, [long], long)], [long]);
    expect(message).not.toContain('s3cr3t');
    expect(message.length).toBeLessThan(2500);
  });
});

function waitingMessage({ status }: KubeObject): string {
  const { containerStatuses } = status as { containerStatuses: { state: { waiting: { message: string } } }[] };
  return containerStatuses[0]?.state.waiting.message ?? '';
}
