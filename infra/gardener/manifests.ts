import { stringify } from 'yaml';
import { findDefinitions } from '../functions.ts';
import { rbacObjects } from './rbac.ts';

/** The manifests that follow from the functions' definitions, by file in this folder. */
export async function gardenerManifests(): Promise<Record<string, string>> {
  const definitions = await findDefinitions();
  const yaml = (place: 'garden' | 'seed') => {
    const objects = rbacObjects(definitions, place);
    const documents = objects.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }));
    return `# Written by "npm run docs" from the functions' definitions.\n${documents.join('---\n')}`;
  };
  return { 'rbac-garden.yaml': yaml('garden'), 'rbac-seed.yaml': yaml('seed') };
}
