import { gitRepositoryFactory, kustomizationFactory } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { controllerOf, withReady } from '../testing.ts';
import { explainFlux } from './flux.ts';
import { linkOf } from './link.ts';

const now = new Date('2026-01-02T04:00:00Z');
const reference = (kind: string, name: string) => ({ apiVersion: '', kind, namespace: 'flux-system', name });
const record = appliedFactory({
  ...{ source: reference('GitRepository', 'main-gitrepo'), kustomization: reference('Kustomization', 'main-ks') },
  managedResources: { 'shoot-flux-sync': '' },
});
const deployments = record.components.map((name) => controllerOf(name));
const repository = gitRepositoryFactory('main-gitrepo', 'https://git.example/foo/fleet.git');
const [source, root] = [withReady(repository, 'True'), withReady(kustomizationFactory('main-ks'), 'True')];
const suspendedByProject = kustomizationFactory('main-ks', { suspend: true });
suspendedByProject.metadata.annotations = {
  'flux.extensions.gardener.cloud/suspended': 'by mia since 2026-11-27T04:00:00Z: leaked key',
};
const user = (name: string, spec: object = {}) => kustomizationFactory(name, spec);

const explained = (objects: KubeObject[], controllers = deployments) => {
  const withGeneration = (object: KubeObject) => ({ ...object, metadata: { ...object.metadata, generation: 1 } });
  const seen = objects.map((object) => ({ object: withGeneration(object), inventory: 0 }));
  const flux = {
    controllers: { deployments: controllers.map(withGeneration) },
    objects: seen,
    unread: ['HelmRelease'],
  };
  return linkOf('Flux', explainFlux({ ...flux, how: 'Read.', flags: [] }, record, now));
};

describe('the link Flux', () => {
  it('is good where everything is Ready', () => {
    expect(explained([source, root])).toMatchObject({
      mark: 'ok',
      text: 'Flux v2.9.4 is running; all 2 objects are Ready',
    });
  });

  it.each<[string, KubeObject[], KubeObject[], string, RegExp]>([
    [
      'controllers that do not run',
      [source, root],
      [],
      'broken',
      /^Not available yet: source-controller, kustomize-controller\./,
    ],
    [
      'a source that is missing',
      [root],
      deployments,
      'broken',
      /^GitRepository flux-system\/main-gitrepo does not exist/,
    ],
    [
      ...(['the source before the Kustomization that waits for it'] as const),
      [
        withReady(kustomizationFactory('main-ks'), 'False', 'Source artifact not found'),
        withReady(repository, 'False', 'EOF'),
      ],
      ...([deployments, 'broken', /^GitRepository flux-system\/main-gitrepo: /] as const),
    ],
    [
      ...(['what the configuration names before what users have'] as const),
      [
        withReady(user('apps'), 'False', 'kustomization path not found: stat /a: no such file'),
        source,
        withReady(root, 'False', 'EOF'),
      ],
      ...([deployments, 'broken', /^Kustomization flux-system\/main-ks: /] as const),
    ],
    [
      ...(['what users have suspended, which is no failure'] as const),
      [source, root, withReady(user('apps', { suspend: true }), 'False', 'EOF')],
      ...([deployments, 'attention', /^Kustomization flux-system\/apps is suspended/] as const),
    ],
    [
      ...(['what the project has suspended, with who takes it back'] as const),
      [source, withReady(suspendedByProject, 'True')],
      ...([
        deployments,
        'attention',
        /^Kustomization flux-system\/main-ks is suspended by mia .*; shoot-flux resume --project PROJECT takes/,
      ] as const),
    ],
    [
      'what is new',
      [source, root, user('apps')],
      deployments,
      'attention',
      /^Kustomization flux-system\/apps: has not been/,
    ],
  ])('marks %s', (_, objects, controllers, mark, sentence) => {
    const link = explained(objects, controllers);
    expect(link.sentence).toMatch(sentence);
    expect(link.mark).toBe(mark);
  });

  it('names fifty of many objects, and none of their secrets', () => {
    const names = Array.from({ length: 60 }, (_, index) => `app-${index}`);
    const many = names.map((name) =>
      withReady(user(name), 'False', 'https://robot:s3cr3t@git.example is not\u001b[31m there'),
    );
    const { text, details } = explained([source, root, ...many]);
    expect(text).toBe('60 parts are not Ready; Flux has 62 objects');
    expect(details.slice(49, 53)).toEqual([
      'Kustomization flux-system/app-50: https://***@git.example is not there',
      '9 more are not Ready.',
      'Only the first 5000 objects of kind HelmRelease were read.',
      'GitRepository flux-system/main-gitrepo is Ready',
    ]);
    expect(JSON.stringify(details)).not.toMatch(/s3cr3t|\\u001b/);
  });
});
