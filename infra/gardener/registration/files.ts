import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { findAllDefinitions } from '../../functions.ts';
import { chartArchive } from './chart-archive.ts';
import { operatorExtension, type Release, registrationObjects } from './registration.ts';

/** The folder of the generated examples. */
export const EXAMPLES = new URL('../../../example/', import.meta.url);

/** The release of the examples: the version of the charts, in a registry to be replaced. */
export const EXAMPLE: Release = { version: '0.1.0', registry: 'registry.example.com' };

const CHART = new URL('../../../charts/shoot-flux/', import.meta.url);

/** Generates the registrations of a release that pull its charts, by file name. */
export async function registrationFiles(release: Release = EXAMPLE): Promise<Record<string, string>> {
  return {
    'controller-registration.yaml': yaml(registrationObjects(await findAllDefinitions(), release)),
    'operator-extension.yaml': yaml([operatorExtension(release)]),
  };
}

/** Generates the registration that contains the chart. */
export async function inlineRegistration(release: Release): Promise<string> {
  const { archive } = await chartArchive(fileURLToPath(CHART), release.version);
  return yaml(registrationObjects(await findAllDefinitions(), release, archive));
}

function yaml(objects: KubeObject[]): string {
  // kubectl and Helm read YAML 1.1, in which off is false.
  const options = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  const documents = objects.map((object) => stringify(object, options));
  return `# Written by "npm run docs" and "npm run registration" from the functions' definitions.\n${documents.join('---\n')}`;
}
