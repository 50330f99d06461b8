import { projectSecretProblem } from '../../shared/config/project-secret-content.ts';
import { projectSecretNames } from '../../shared/gardener/project-config.ts';
import { resources } from '../../shared/kube/resource.ts';
import type { Run } from './config-map.ts';
import { type Notice, warning } from './notice.ts';

/** Checks the other Secrets of the project that exist, as each of its Shoots does. */
export async function checkProjectSecrets({ garden, namespace }: Run): Promise<Notice[]> {
  const notices = await Promise.all(
    projectSecretNames.map(async (name) => {
      const secret = await garden.find(resources.secrets, { namespace, name });
      const problem = secret && projectSecretProblem(name, secret);
      return problem === undefined ? [] : [warning('InvalidSecret', `Secret ${namespace}/${name} ${problem}.`)];
    }),
  );
  return notices.flat();
}
