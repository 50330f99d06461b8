import { git, helmRelease, kustomize } from '../../../shared/config/listed/testing.ts';
import { type BadConfig, HIDDEN, kustomization, ofShoot, source } from './case.ts';

const objects = (...list: object[]) => ({ objects: list });
const admission: BadConfig['unknownTo'] = ['admission'];

/** Mistakes in the lists of objects. */
export const ofLists: BadConfig[] = [
  ofShoot(
    'a misspelt kind',
    objects({ ...helmRelease('a', 'b'), kind: 'HelmRelese' }),
    ': objects[0].kind "HelmRelese" is not a kind of Flux; did you mean HelmRelease?',
  ),
  ofShoot(
    'a Secret',
    objects({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { key: HIDDEN } }),
    ': objects[0].kind "Secret" is not a kind of Flux; use one of GitRepository, OCIRepository, Bucket, HelmRepository, HelmChart, ExternalArtifact, ArtifactGenerator, Provider, Alert, Receiver, ImageRepository, ImagePolicy, ImageUpdateAutomation, Kustomization, HelmRelease, or put the object into the repository',
  ),
  ofShoot(
    'an administrator',
    objects({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'a' } }),
    ': objects[0].kind "ClusterRoleBinding" is not a kind of Flux; use one of GitRepository, OCIRepository, Bucket, HelmRepository, HelmChart, ExternalArtifact, ArtifactGenerator, Provider, Alert, Receiver, ImageRepository, ImagePolicy, ImageUpdateAutomation, Kustomization, HelmRelease, or put the object into the repository',
  ),
  ofShoot(
    'a misspelt source',
    objects(git('podinfo'), kustomize('apps', 'podinf')),
    ': objects[1].spec.sourceRef names GitRepository "podinf" in namespace flux-system, which the configuration does not have; did you mean podinfo?',
    { unknownTo: admission },
  ),
  ofShoot(
    'a dependency in a circle',
    objects(
      git('a'),
      kustomize('b', 'a', { dependsOn: [{ name: 'c' }] }),
      kustomize('c', 'a', { dependsOn: [{ name: 'b' }] }),
    ),
    ': objects[1].spec.dependsOn is circular: it waits for flux-system/c, which waits for flux-system/b; remove one of these dependencies',
  ),
  ofShoot(
    'a Secret that nothing delivers',
    objects(git('a', { secretRef: { name: 'token' } })),
    ': objects[0].spec.secretRef names Secret "token" in namespace flux-system, which is not copied there; copy it with additionalSecretResources, or list it in existingSecrets if it comes from elsewhere',
    {
      unknownTo: admission,
    },
  ),
  ofShoot(
    'a Secret without the key that Flux reads',
    { ...objects(git('a', { secretRef: { name: 'its-token' } })), additionalSecretResources: [{ name: 'token' }] },
    ': objects[0].spec.secretRef names Secret flux-system/its-token, which has no password; add the key to the original of the Secret',
    {
      resources: { token: 'Secret' },
      contents: { token: { username: HIDDEN } },
      unknownTo: ['validate', 'admission'],
    },
  ),
  ofShoot(
    'a text in place of a flag',
    objects(git('a'), kustomize('b', 'a', { prune: 'yes' })),
    ': objects[1].spec.prune must be true or false without quotes, not "yes"',
    {
      unknownTo: admission,
    },
  ),
  ofShoot(
    'a kind whose controller is not installed',
    {
      flux: { components: ['source-controller', 'kustomize-controller'] },
      ...objects(
        { kind: 'Alert', metadata: { name: 'a' }, spec: { providerRef: { name: 'b' }, eventSources: [] } },
        { kind: 'Provider', metadata: { name: 'b' }, spec: { type: 'generic', address: 'https://a.example' } },
      ),
    },
    ': flux.components lacks notification-controller, which the configured Provider needs; add notification-controller',
    { unknownTo: admission },
  ),
  ofShoot(
    'a source in both forms',
    { sources: [source()], source: source(), kustomization: kustomization() },
    ': sources cannot be combined with source; move source into the list',
  ),
  ofShoot(
    'two objects of one name',
    objects(git('a'), git('a')),
    ': objects[1].metadata.name "a" is already the name of the GitRepository at objects[0] in namespace flux-system; use another name',
  ),
  ofShoot(
    'an object of another tenant',
    {
      flux: { multiTenancy: true },
      ...objects(
        { ...git('a'), metadata: { name: 'a', namespace: 'team' } },
        kustomize('b', 'a', { sourceRef: { kind: 'GitRepository', name: 'a', namespace: 'team' } }),
      ),
    },
    ': objects[1].spec.sourceRef names an object in namespace team, which multiTenancy does not permit; use one in flux-system',
  ),
];
