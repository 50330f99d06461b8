import type { CopiedSecret, EffectiveConfig } from '../../../shared/config/effective.ts';
import type { ConfigMapMaterial, SecretMaterial } from '../../../shared/flux/release.ts';
import { NEXT_IDENTITY, NEXT_PUBLIC_KEY } from '../../../shared/gardener/project-config.ts';
import { referenceCopy } from '../../../shared/gardener/references.ts';
import type { Shoot } from '../../../shared/gardener/types.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';

/** What is copied into the shoot. */
export interface Copies {
  secrets: SecretMaterial[];
  configMaps: ConfigMapMaterial[];
  /** When Gardener renews each of the tokens among the Secrets, in epoch ms; 0 where it does not say. */
  renewals: number[];
}

/** Something is not there yet; the sentence says what. */
interface Missing {
  missing: string;
}

/** Reads the contents of everything that the configuration names, each with one request. */
export async function readMaterial(
  config: EffectiveConfig,
  shoot: Shoot,
  namespace: string,
  seed: KubeClient,
  garden: () => Promise<KubeClient>,
): Promise<Copies | Missing> {
  const wanted = [...(config.sourceSecret === undefined ? [] : [config.sourceSecret]), ...config.additionalSecrets];
  const copies: Copies = { secrets: [], configMaps: [], renewals: [] };
  for (const copied of wanted) {
    const missing =
      copied.origin.type === 'flux-source'
        ? await readFluxSource(copied, shoot, await garden(), copies)
        : await readReference(copied, copied.origin.resourceName, shoot, namespace, seed, copies);
    if (missing !== undefined) return missing;
  }
  return copies;
}

async function readFluxSource(
  copied: CopiedSecret,
  shoot: Shoot,
  garden: KubeClient,
  { secrets }: Copies,
): Promise<Missing | undefined> {
  const project = shoot.metadata.namespace ?? '';
  const secret = await garden.find(resources.secrets, { namespace: project, name: 'flux-source' });
  const where = `Secret ${project}/flux-source in the garden`;
  if (secret === undefined)
    return { missing: `${where} is not there yet; see the Events of ConfigMap ${project}/flux-config.` };
  const data = dataOf(secret);
  if (data.identity !== undefined && data.known_hosts === undefined) {
    return { missing: `${where} has no known_hosts yet; give "knownHosts" in ConfigMap ${project}/flux-config.` };
  }
  secrets.push(secretMaterial(secret, copied, 'flux-source'));
  return undefined;
}

/** The copy in the control plane is made asynchronously by Gardener and may lag (trap 32). */
async function readReference(
  copied: CopiedSecret,
  resourceName: string,
  shoot: Shoot,
  namespace: string,
  seed: KubeClient,
  copies: Copies,
): Promise<Missing | undefined> {
  const reference = shoot.spec?.resources?.find(({ name }) => name === resourceName)?.resourceRef;
  if (reference === undefined) {
    return {
      missing: `The Shoot's spec.resources has no entry "${resourceName}" yet; add one that refers to the object.`,
    };
  }
  const { resource, name, isToken } = referenceCopy(reference);
  const copy = await seed.find(resource, { namespace, name });
  const where = `${reference.kind} ${shoot.metadata.namespace ?? ''}/${reference.name} (spec.resources "${resourceName}")`;
  if (isToken && (copy === undefined || dataOf(copy).token === undefined)) {
    return { missing: `${where} has no token in the control plane yet; check that it exists.` };
  }
  if (copy === undefined) {
    return { missing: `${where} has not been copied to the control plane yet; check that it exists.` };
  }
  if (isToken) copies.renewals.push(renewalOf(copy));
  if (resource === resources.configMaps) copies.configMaps.push(configMapMaterial(copy, copied, reference.name));
  else copies.secrets.push(secretMaterial(copy, copied, reference.name));
  return undefined;
}

/** Written by gardenlet with every token that it puts there. */
const RENEWAL = 'workloadidentity.security.gardener.cloud/token-renew-timestamp';

function renewalOf({ metadata }: KubeObject): number {
  return Date.parse(metadata.annotations?.[RENEWAL] ?? '') || 0;
}

/**
 * Without what a rotation has prepared: that is for the garden alone until it is completed, also where a Shoot names
 * `flux-source` among its own resources.
 */
function secretMaterial(secret: KubeObject, copied: CopiedSecret, defaultName: string): SecretMaterial {
  const { [NEXT_IDENTITY]: _identity, [NEXT_PUBLIC_KEY]: _publicKey, ...data } = dataOf(secret);
  return {
    name: copied.targetName ?? defaultName,
    namespace: copied.namespace,
    type: (secret.type as string | undefined) ?? 'Opaque',
    data,
  };
}

function configMapMaterial(configMap: KubeObject, copied: CopiedSecret, defaultName: string): ConfigMapMaterial {
  const { data, binaryData } = configMap as Pick<ConfigMapMaterial, 'data' | 'binaryData'>;
  return { name: copied.targetName ?? defaultName, namespace: copied.namespace, data, binaryData };
}

function dataOf(secret: KubeObject): Record<string, string> {
  return (secret.data ?? {}) as Record<string, string>;
}
