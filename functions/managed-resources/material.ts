import type { CopiedSecret, EffectiveConfig } from '../../shared/config/effective.ts';
import type { SecretMaterial } from '../../shared/flux/release.ts';
import { NEXT_IDENTITY, NEXT_PUBLIC_KEY } from '../../shared/gardener/project-config.ts';
import type { Shoot } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';

/** The Secrets for the shoot, or the sentence that says which one is not there yet. */
export type Material = { secrets: SecretMaterial[] } | { missing: string };

/** Reads the contents of all Secrets that the configuration names, each with one request. */
export async function readMaterial(
  config: EffectiveConfig,
  shoot: Shoot,
  namespace: string,
  seed: KubeClient,
  garden: () => Promise<KubeClient>,
): Promise<Material> {
  const wanted = [...(config.sourceSecret === undefined ? [] : [config.sourceSecret]), ...config.additionalSecrets];
  const secrets: SecretMaterial[] = [];
  for (const copied of wanted) {
    const found =
      copied.origin.type === 'flux-source'
        ? await readFluxSource(copied, shoot, await garden())
        : await readReference(copied, copied.origin.resourceName, shoot, namespace, seed);
    if ('missing' in found) return found;
    secrets.push(found);
  }
  return { secrets };
}

async function readFluxSource(
  copied: CopiedSecret,
  shoot: Shoot,
  garden: KubeClient,
): Promise<SecretMaterial | { missing: string }> {
  const project = shoot.metadata.namespace ?? '';
  const secret = await garden.find(resources.secrets, { namespace: project, name: 'flux-source' });
  const where = `Secret ${project}/flux-source in the garden`;
  if (secret === undefined)
    return { missing: `${where} is not there yet; see the Events of ConfigMap ${project}/flux-config.` };
  // What a rotation has prepared is for the garden alone until it is completed.
  const { [NEXT_IDENTITY]: _identity, [NEXT_PUBLIC_KEY]: _publicKey, ...data } = dataOf(secret);
  if (data.identity !== undefined && data.known_hosts === undefined) {
    return { missing: `${where} has no known_hosts yet; give "knownHosts" in ConfigMap ${project}/flux-config.` };
  }
  return material({ ...secret, data }, copied, 'flux-source');
}

/** The copy in the control plane is made asynchronously by Gardener and may lag (trap 32). */
async function readReference(
  copied: CopiedSecret,
  resourceName: string,
  shoot: Shoot,
  namespace: string,
  seed: KubeClient,
): Promise<SecretMaterial | { missing: string }> {
  const reference = shoot.spec?.resources?.find(({ name }) => name === resourceName)?.resourceRef;
  if (reference === undefined) {
    return {
      missing: `The Shoot's spec.resources has no entry "${resourceName}" yet; add one that refers to the Secret.`,
    };
  }
  const secret = await seed.find(resources.secrets, { namespace, name: `ref-${reference.name}` });
  if (secret === undefined) {
    return {
      missing: `Secret ${shoot.metadata.namespace ?? ''}/${reference.name} (spec.resources "${resourceName}") has not been copied to the control plane yet; check that it exists.`,
    };
  }
  return material(secret, copied, reference.name);
}

function material(secret: KubeObject, copied: CopiedSecret, defaultName: string): SecretMaterial {
  return {
    name: copied.targetName ?? defaultName,
    namespace: copied.namespace,
    type: (secret.type as string | undefined) ?? 'Opaque',
    data: dataOf(secret),
  };
}

function dataOf(secret: KubeObject): Record<string, string> {
  return (secret.data ?? {}) as Record<string, string>;
}
