import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { type Available, mayHave, type Places, placesOf, secretIssues } from './listed/secret-rules.ts';
import { type Origins, originOf } from './origins.ts';
import { FLUX_REGISTRY } from './project-config.ts';
import { quote } from './quote.ts';
import type { FluxInstall } from './types.ts';
import { asObject } from './values.ts';

interface Named {
  flux: FluxInstall;
  source: KubeObject | undefined;
  kustomization: KubeObject | undefined;
  origins: Origins;
}

/**
 * Returns a warning for each Secret that an option, the single source or the single Kustomization names and nothing
 * copies into the shoot: without it Flux fails at its first attempt, or silently does without. It is no error, because the
 * user may create the Secret there.
 */
export function secretWarnings(named: Named, available: Available): ConfigIssue[] {
  return [...optionWarnings(named, placesOf(available)), ...rootWarnings(named, available)];
}

function optionWarnings({ flux, kustomization, origins }: Named, places: Places): ConfigIssue[] {
  const isUsed = decryptionSecret(kustomization) === flux.sopsAgeSecret;
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
    if (name === undefined || mayHave(places, 'Secret', namespace, name)) return [];
    const message = `${quote(name)} is not copied into the shoot; add it to additionalSecretResources, ${other}or create it in ${namespace} and list it in existingSecrets`;
    return [{ ...originOf(origins, path), message }];
  });
}

function rootWarnings({ flux, source, kustomization, origins }: Named, available: Available): ConfigIssue[] {
  const named = Object.entries({ source, kustomization }).flatMap(([path, object]) =>
    object === undefined ? [] : [{ object, place: { object: '', path } }],
  );
  const isOfOption = decryptionSecret(kustomization) === flux.sopsAgeSecret;
  return secretIssues(named, available)
    .filter(({ path }) => !(isOfOption && path === 'kustomization.spec.decryption.secretRef'))
    .map(({ path, message }) => ({ ...originOf(origins, path), message }));
}

function decryptionSecret(kustomization: KubeObject | undefined): unknown {
  const decryption = asObject(asObject(kustomization?.spec)?.decryption);
  return asObject(decryption?.secretRef)?.name;
}
