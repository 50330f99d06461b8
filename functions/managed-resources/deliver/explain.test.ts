import { expect, it } from 'vitest';
import { LONGEST_QUOTE } from '../../../shared/runtime/safe-text.ts';
import { explain } from './explain.ts';

const of = (object: string, message: string) => `error during apply of object "${object}": ${message}`;
const deployment = 'apps/v1/Deployment/flux-system/source-controller';
const ofDeployment = (message: string) => of(deployment, message);
const buckets = 'buckets.source.toolkit.fluxcd.io';
const crd = `apiextensions.k8s.io/v1/CustomResourceDefinition/default/${buckets}`;
const invalidCrd = `CustomResourceDefinition.apiextensions.k8s.io "${buckets}" is invalid: status.storedVersions`;
const kustomization = 'kustomize.toolkit.fluxcd.io/v1/Kustomization/flux-system/main-ks';
const gitRepository = 'source.toolkit.fluxcd.io/v1/GitRepository/flux-system/main-gitrepo';
const forbidden = 'deployments.apps "source-controller" is forbidden:';
const resourceManager = 'system:serviceaccount:kube-system:gardener-resource-manager';

/** An object -> messages of the resource-manager about it -> parts of the sentence: the object, the problem, the remedy. */
const applyFailed: Record<string, Record<string, string | string[]>> = {
  'v1/ConfigMap/flux-system/a': {
    'unable to get: flux-system/a because of unknown namespace for the cache': '--extra-target-namespace=flux-system',
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again':
      'another client changes it at the same time',
  },
  [crd]: {
    [`${invalidCrd}[0]: Invalid value: "v1beta2": missing from spec.versions; v1beta2 was previously a storage version`]:
      [`${buckets} in version v1beta2`, 'stores them in another version'],
    [`${invalidCrd}[1]: Invalid value: "v1": must appear in spec.versions`]: [
      `${buckets} in version v1,`,
      'stores them in another version',
    ],
  },
  [deployment]: {
    'admission webhook "validate.kyverno.svc-fail" denied the request: resource Deployment/flux-system/source-controller was blocked due to the following policies':
      [
        'Deployment flux-system/source-controller: the admission webhook "validate.kyverno.svc-fail" of the shoot denies it',
        'exempt the objects of Flux',
      ],
    'Internal error occurred: failed calling webhook "mutate.example.com": failed to call webhook: Post "https://hook.a.svc:443/mutate?timeout=10s": context deadline exceeded':
      'the admission webhook "mutate.example.com" of the shoot does not respond',
    [`${forbidden} ValidatingAdmissionPolicy 'replicas' with binding 'all' denied request: at least 2 replicas`]: [
      'the ValidatingAdmissionPolicy "replicas" of the shoot denies it',
      'at least 2 replicas',
    ],
    'Deployment.apps "source-controller" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"source-controller"}}: field is immutable':
      'its field spec.selector is immutable; delete the object in the shoot',
    [`${forbidden} unable to create new content in namespace flux-system because it is being terminated`]: [
      'the namespace flux-system is being deleted',
      'finalizers',
    ],
    [`${forbidden} User "${resourceManager}" cannot create resource "deployments" in API group "apps" in the namespace "flux-system"`]: `"${resourceManager}" lacks the permission to write this object`,
    'Get "https://kube-apiserver/apis/apps/v1": dial tcp 10.0.0.1:443: connect: connection refused':
      'the API server of the shoot cannot be reached',
    'the cat sat on the mat': ['cannot be applied to the shoot', 'the cat sat on the mat'],
  },
  'v1/ConfigMap/flux-system/shoot-info': {
    'configmaps "shoot-info" is forbidden: exceeded quota: objects, requested: count/configmaps=1, used: count/configmaps=5, limited: count/configmaps=5':
      'ConfigMap flux-system/shoot-info: the ResourceQuota "objects" of the shoot is used up; raise it',
  },
  'v1/ServiceAccount/flux/a': {
    'namespaces "flux" not found': 'the namespace flux does not exist in the shoot',
  },
  [gitRepository]: {
    'no matches for kind "GitRepository" in version "source.toolkit.fluxcd.io/v1"':
      'GitRepository flux-system/main-gitrepo: the shoot does not know the kind GitRepository',
  },
  [kustomization]: {
    'Kustomization.kustomize.toolkit.fluxcd.io "main-ks" is invalid: spec.interval: Invalid value: "5 minutes": spec.interval in body should match \'^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$\'':
      'Kustomization flux-system/main-ks: the API server rejects spec.interval; correct it',
  },
  'v1/Secret/flux-system/a': {
    'Request entity too large: limit is 3145728':
      'it is too large for the API server; make the Secret or the template smaller',
  },
};

const rows = Object.entries(applyFailed).flatMap(([object, messages]) =>
  Object.entries(messages).map(([message, named]) => [object, message, [named].flat()] as const),
);

it.each(rows)('%s: %s', (object, message, named) => {
  const sentence = explain('shoot-flux-x', 'ApplyFailed', of(object, message));
  expect(sentence).toMatch(/^ManagedResource shoot-flux-x/);
  for (const text of named) expect(sentence).toContain(text);
  // A webhook may use the same words.
  const denial = ofDeployment(`admission webhook "w" denied the request: ${of(object, message)}`);
  expect(explain('shoot-flux-x', 'ApplyFailed', denial)).toContain(
    'Deployment flux-system/source-controller: the admission webhook "w" of the shoot denies it',
  );
});

it('quotes the message behind the sentence, and truncates it', () => {
  const message = of(deployment, `admission webhook "hook" denied the request: ${'no '.repeat(4000)}`);
  const sentence = explain('shoot-flux-controllers', 'ApplyFailed', message);
  expect(sentence).toContain('The resource-manager says: error during apply of object');
  expect(sentence.length).toBeLessThan(LONGEST_QUOTE + 300);
});

it('stays short and hides credentials, even when a webhook imitates the messages of an API server', () => {
  const url = `https://user:s3cr3t@example.com/${'x'.repeat(9000)}`;
  for (const message of [`quota is forbidden: exceeded quota: ${url}`, `is forbidden: User "${url}" cannot get`]) {
    const sentence = explain('shoot-flux-x', 'ApplyFailed', of(deployment, message));
    expect(sentence.length).toBeLessThan(LONGEST_QUOTE + 800);
    expect(sentence).not.toContain('s3cr3t');
  }
});

it('says that an object cannot be read, and does not quote a Secret', () => {
  const message = 'Could not decode all new resources: error converting YAML to JSON: found "s3cr3t" at line 3';
  expect(explain('shoot-flux-sync', 'DecodingFailed', message)).toContain('at line 3');
  expect(explain('shoot-flux-secrets', 'DecodingFailed', message)).toContain(
    'The original message is withheld because it may contain Secret data.',
  );
  expect(explain('shoot-flux-secrets', 'DecodingFailed', message)).not.toContain('s3cr3t');
});

it('trap 23: names the remedy for a stuck deletion', () => {
  const message = 'deletion of old resource "v1/ConfigMap/a/b" is still pending';
  expect(explain('shoot-flux-sync', 'DeletionPending', message)).toMatch(/finalizers.*"v1\/ConfigMap\/a\/b" is still/);
});

it('distinguishes an old object that cannot be deleted from one that cannot be applied', () => {
  const message =
    'Could not clean all old resources: error during deletion of old resource "v1/ConfigMap/a/b": admission webhook "w" denied the request: no';
  expect(explain('shoot-flux-sync', 'DeletionFailed', message)).toMatch(
    /^ManagedResource shoot-flux-sync: an old object cannot be deleted, .*; ConfigMap a\/b: the admission webhook "w" of the shoot denies it; exempt the objects of Flux from that webhook/,
  );
  expect(explain('shoot-flux-sync', 'DeletionFailed', 'no')).toContain('check in the shoot what rejects the deletion');
});

it('says that a deleted content Secret is written again', () => {
  const message = 'secrets "managedresource-shoot-flux-sync-0a1b2c3d" not found';
  expect(explain('shoot-flux-sync', 'CannotReadSecret', message)).toContain('shoot-flux recreates the Secret');
});

it('withholds the message of a webhook that may quote a Secret', () => {
  const message = of('v1/Secret/flux-system/flux-source', 'admission webhook "w" denied the request: value s3cr3t');
  const sentence = explain('shoot-flux-secrets', 'ApplyFailed', message);
  expect(sentence).toContain('Secret flux-system/flux-source: the admission webhook "w" of the shoot denies it');
  expect(sentence).not.toContain('s3cr3t');
  const both = `2 errors occurred: ${of('v1/ConfigMap/flux-system/a', 'no')}, ${message}`;
  expect(explain('shoot-flux-secrets', 'ApplyFailed', both)).not.toContain('s3cr3t');
});
