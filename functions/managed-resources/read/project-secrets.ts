import { neededProjectSecrets } from '../../../shared/config/project-secrets.ts';
import type { ConfigInputs, ProjectSecret } from '../../../shared/config/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';

/** The Secrets of the project that exist, and what the configuration may know of them. */
export interface ProjectSecretContents {
  projectSecrets: ProjectSecret[];
  /** Their objects by name. */
  secretObjects: ReadonlyMap<string, KubeObject>;
}

/**
 * Reads the Secrets of the project that count for a Shoot. Only a 404 means that one is absent.
 * @param known the names of those that were there, where no other can be new
 */
export async function readProjectSecrets(
  garden: KubeClient,
  namespace: string,
  layers: ConfigInputs,
  known?: readonly string[],
): Promise<ProjectSecretContents> {
  const needed = neededProjectSecrets(layers).filter((name) => known?.includes(name) ?? true);
  const found = await Promise.all(needed.map((name) => garden.find(resources.secrets, { namespace, name })));
  if (found.every((secret) => secret === undefined)) return { projectSecrets: [], secretObjects: new Map() };
  // Most projects have none.
  const { projectSecretOf } = await import('../../../shared/config/project-secret-content.ts');
  const projectSecrets: ProjectSecret[] = [];
  const secretObjects = new Map<string, KubeObject>();
  for (const [index, name] of needed.entries()) {
    const secret = found[index];
    if (secret === undefined) continue;
    projectSecrets.push(projectSecretOf(name, namespace, secret));
    secretObjects.set(name, secret);
  }
  return { projectSecrets, secretObjects };
}
