import type { ConfigIssue } from '../errors.ts';
import { FLUX_REGISTRY } from '../gardener/project-config.ts';
import type { Layer } from './layer.ts';
import { type Origins, originOf } from './origins.ts';
import { quote } from './quote.ts';
import { resourcesByName, type ShootResource } from './shoot-resources.ts';
import type { CopiedSecret, EffectiveConfig } from './types.ts';
import { asObject } from './values.ts';

interface OptionSecrets extends Pick<EffectiveConfig, 'flux' | 'kustomization'> {
  origins: Origins;
  layers: readonly Layer[];
  copies: readonly CopiedSecret[];
  shootResources: readonly ShootResource[] | undefined;
}

/**
 * Returns a warning for each Secret that an option names and nothing copies into the shoot: without `imagePullSecret` no
 * image is pulled from a private registry, without `proxy.secretName` the controllers silently use no proxy, and without
 * `sopsAgeSecret` the first synchronisation fails. It is no error, because the user may create the Secret there.
 */
export function optionSecretWarnings(inputs: OptionSecrets): ConfigIssue[] {
  const { flux, kustomization, origins } = inputs;
  const decryption = asObject(asObject(kustomization?.spec)?.decryption);
  const isUsed = asObject(decryption?.secretRef)?.name === flux.sopsAgeSecret;
  const named = [
    {
      path: 'flux.imagePullSecret',
      name: flux.imagePullSecret,
      namespace: flux.namespace,
      other: `create it in the project under the name ${FLUX_REGISTRY} and omit imagePullSecret, `,
    },
    { path: 'flux.proxy.secretName', name: flux.proxy?.secretName, namespace: flux.namespace },
    {
      path: 'flux.sopsAgeSecret',
      name: isUsed ? flux.sopsAgeSecret : undefined,
      namespace: kustomization?.metadata.namespace ?? flux.namespace,
    },
  ];
  return named.flatMap(({ path, name, namespace, other = '' }) => {
    if (name === undefined || isThere(inputs, name, namespace)) return [];
    const message = `${quote(name)} is not copied into the shoot; add it to additionalSecretResources, ${other}or create it in ${namespace} and list it in existingSecrets`;
    return [{ ...originOf(origins, path), message }];
  });
}

function isThere({ flux, layers, copies, shootResources }: OptionSecrets, name: string, namespace: string): boolean {
  const existing = layers.flatMap(({ content }) => content.existingSecrets ?? []);
  const placed = existing.map((entry) => (entry.includes('/') ? entry : `${flux.namespace}/${entry}`));
  const byName = resourcesByName(shootResources);
  // A copy whose name is known only in the landscape may be it.
  const mayBe = ({ origin, targetName }: CopiedSecret) => {
    const entry = origin.type === 'resource' ? byName.get(origin.resourceName) : undefined;
    const target = targetName ?? entry?.resourceName;
    return target === undefined || target === name;
  };
  return placed.includes(`${namespace}/${name}`) || copies.some((copy) => copy.namespace === namespace && mayBe(copy));
}
