import { FLUX_SOURCE } from '../../shared/gardener/project-config.ts';
import { AlreadyExistsError, ConflictError, NotFoundError } from '../../shared/kube/errors.ts';
import { apiVersionOf, resources } from '../../shared/kube/resource.ts';
import type { SecretChange } from './decide.ts';
import { fieldManager, type Run } from './run.ts';
import { encoded, present, type SourceSecret } from './secret.ts';

/** The Secret `flux-source` of the project. */
export function findSecret({ garden, namespace }: Run): Promise<SourceSecret | undefined> {
  return garden.find<SourceSecret>(resources.secrets, { namespace, name: FLUX_SOURCE });
}

/** False when the Secret is no longer what was judged. */
export async function writeSecret(
  { garden, namespace, context }: Run,
  secret: SourceSecret | undefined,
  change: SecretChange,
): Promise<boolean> {
  const name = { namespace, name: FLUX_SOURCE };
  const { annotations } = change;
  const data = encoded(change.data);
  try {
    if (secret === undefined) {
      await garden.create(resources.secrets, newSecret(namespace, change), { fieldManager });
    } else {
      const { uid, resourceVersion } = secret.metadata;
      await garden.mergePatch(
        resources.secrets,
        name,
        { metadata: { uid, resourceVersion, annotations }, data },
        { fieldManager },
      );
    }
  } catch (error) {
    if (error instanceof AlreadyExistsError || error instanceof ConflictError || error instanceof NotFoundError)
      return false;
    throw error;
  }
  context.log.info('Secret flux-source completed', { written: Object.keys(data).join(',') });
  return true;
}

function newSecret(namespace: string, { data, annotations }: SecretChange): SourceSecret {
  return {
    apiVersion: apiVersionOf(resources.secrets),
    kind: resources.secrets.kind,
    metadata: { namespace, name: FLUX_SOURCE, annotations: present(annotations) },
    type: 'Opaque',
    data: present(encoded(data)),
  };
}
