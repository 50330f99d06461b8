import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { findAllDefinitions } from '../functions.ts';
import { awsManifests } from './manifests.ts';

const manifests = await awsManifests();
const objectsOf = (name: string) =>
  parseAllDocuments(manifests[name] ?? '').map((document) => document.toJS() as KubeObject);

describe('manifests for AWS', () => {
  it('give the user of each function exactly the rights of its definition', async () => {
    for (const place of ['garden', 'seed'] as const) {
      const objects = objectsOf(`rbac-${place}.yaml`);
      const definitions = (await findAllDefinitions()).filter(({ rights }) => rights[place].length > 0);
      const bindings = objects.filter(({ kind }) => kind === 'ClusterRoleBinding');
      const granted = bindings.map(({ subjects, roleRef }) => {
        const role = objects.find(
          ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === (roleRef as { name: string }).name,
        );
        return [(subjects as { name: string }[]).map(({ name }) => name), role?.rules];
      });
      expect(granted).toEqual(definitions.map(({ name, rights }) => [[`shoot-flux-aws:${name}`], rights[place]]));
    }
  });
});
