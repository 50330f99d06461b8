import { stringify } from 'yaml';
import { findAllDefinitions, isWebhook } from '../functions.ts';
import { policyObjects, rbacObjects } from './rbac.ts';
import { webhookObjects } from './webhooks.ts';

/** Generates the manifests of this folder from the functions' definitions, by file name. */
export async function gardenerManifests(): Promise<Record<string, string>> {
  const definitions = await findAllDefinitions();
  const webhooks = definitions.filter(isWebhook);
  return {
    'rbac-garden.yaml': yaml([...rbacObjects(definitions, 'garden'), ...policyObjects()]),
    'rbac-seed.yaml': yaml(rbacObjects(definitions, 'seed')),
    'webhooks-garden.yaml': yaml(webhookObjects(webhooks, 'garden')),
    'webhooks-seed.yaml': yaml(webhookObjects(webhooks, 'seed')),
  };
}

/** Returns the text of a generated file. @param content what it has, where its name does not say so */
export function yaml(objects: readonly object[], content = '', writers = '"npm run docs"'): string {
  // kubectl and Helm read YAML 1.1, in which off is false.
  const options = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  const documents = objects.map((object) => stringify(object, options)).join('---\n');
  return `# Written by ${writers} from the functions' definitions${content && `: ${content}`}.\n${documents}`;
}
