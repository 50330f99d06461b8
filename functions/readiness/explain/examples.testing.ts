import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { Origin } from './places.ts';

/** Real messages of Flux about an object, each with `reason: fragment` of its sentence, and maybe more fragments. */
export type Examples = [object: KubeObject, origin: Origin, messages: Record<string, string | string[]>];

export const flux = (group: string, kind: string, name: string, spec: Record<string, unknown>): KubeObject => ({
  apiVersion: `${group}.toolkit.fluxcd.io/v1`,
  kind,
  metadata: { namespace: 'flux-system', name },
  spec,
});
export const ssh = 'ssh://git@git.example.com/org/fleet';
export const https = 'https://git.example.com/org/fleet';
export const gitRepository = (spec: Record<string, unknown>) => flux('source', 'GitRepository', 'main-gitrepo', spec);
export const overSsh = gitRepository({ url: ssh, ref: { branch: 'main' }, secretRef: { name: 'flux-source' } });
export const overHttps = gitRepository({ url: https, ref: { branch: 'main' }, secretRef: { name: 'flux-source' } });
export const open = gitRepository({ url: https, ref: { tag: 'v1' } });
export const oci = flux('source', 'OCIRepository', 'fleet', {
  url: 'oci://ghcr.io/org/fleet',
  secretRef: { name: 'reg' },
});
export const bucket = flux('source', 'Bucket', 'fleet', { endpoint: 's3.example.com', bucketName: 'fleet' });
export const charts = flux('source', 'HelmRepository', 'charts', { url: 'https://charts.example.com' });
export const kustomization = flux('kustomize', 'Kustomization', 'main-ks', {
  path: './clusters/production',
  decryption: { provider: 'sops', secretRef: { name: 'sops-age' } },
});

export const fluxConfig: Origin = { from: 'flux-config', isReleased: false };
export const providerConfig: Origin = { from: 'providerConfig', isReleased: false };
export const released: Origin = { from: 'flux-config', isReleased: true };

export const checkout = 'failed to checkout and determine revision: unable to';
export const deployKey = 'to the repository as a deploy key';
export const additional = 'additionalSecretResources with targetName sops-age in the providerConfig';

export const listed: Origin = {
  from: 'providerConfig',
  isReleased: false,
  place: { object: 'providerConfig', path: 'objects[1]' },
};
export const release = flux('helm', 'HelmRelease', 'app', { interval: '1h' });
export const chart = flux('source', 'HelmChart', 'app', { chart: 'app' });
export const receiver = flux('notification', 'Receiver', 'app', { secretRef: { name: 'webhook' } });
export const imageRepository = flux('image', 'ImageRepository', 'app', {
  image: 'ghcr.io/org/app',
  secretRef: { name: 'registry' },
});
export const imagePolicy = flux('image', 'ImagePolicy', 'app', { imageRepositoryRef: { name: 'app' } });
export const automation = flux('image', 'ImageUpdateAutomation', 'app', { interval: '1h' });
