import * as z from 'zod/mini';
import { type Check, namespaceName, objectName } from './checks.ts';
import { settings } from './flux-options.ts';
import { quote } from './quote.ts';
import { key, requiredKey, text } from './schema.ts';

export const PROVIDER_CONFIG_API = 'flux.extensions.gardener.cloud/v1alpha1';

const listOf = (check: (item: string) => string | undefined) => z.array(text(check));

/** Checks `name` or `namespace/name`. */
const placedName: Check = (text) => {
  const [name = '', namespace, ...rest] = text.split('/').reverse();
  const problem = rest.length > 0 ? `${quote(text)} has more than one slash; use namespace/name` : undefined;
  return problem ?? (namespace === undefined ? undefined : namespaceName(namespace)) ?? objectName(name);
};

/** `source` of the FluxConfig; `sourceTemplateSchema` checks its template. */
export const sourceSchema = z.strictObject({
  template: requiredKey(z.looseObject({}), {
    description:
      'A GitRepository, OCIRepository or Bucket. Fields that are not listed here are passed on unchanged if the Flux release knows them.',
    example: '{ kind: GitRepository, spec: { url: https://github.com/org/fleet, ref: { branch: main } } }',
  }),
  secretResourceName: key(text(), {
    description: "The entry of the Shoot's `spec.resources` whose Secret contains the credentials.",
    example: 'fleet-credentials',
  }),
});

/** `kustomization` of the FluxConfig; `kustomizationTemplateSchema` checks its template. */
export const kustomizationSchema = z.strictObject({
  template: requiredKey(z.looseObject({}), {
    description:
      'The root Kustomization. Fields that are not listed here are passed on unchanged if the Flux release knows them.',
    example: '{ spec: { path: ./clusters/production } }',
  }),
  patch: key(z.looseObject({}), {
    description:
      'Changes of the Kustomization of a lower layer, instead of `template`: it keeps its name and everything that the patch does not name.',
    example: '{ spec: { path: ./clusters/staging } }',
  }),
});

const changedMap = z.optional(z.looseObject({}));

/** `kustomization.patch` of the FluxConfig. The name stays: under another one it would be another Kustomization. */
export const kustomizationPatchSchema = z.strictObject({
  metadata: z.optional(z.strictObject({ labels: changedMap, annotations: changedMap })),
  spec: z.optional(z.looseObject({})),
});

/** An entry of `additionalSecretResources`. */
export const additionalSecretSchema = z.strictObject({
  name: requiredKey(text(), {
    description: "The entry of the Shoot's `spec.resources` to copy: a Secret, a ConfigMap or a WorkloadIdentity.",
    example: 'sops-age',
  }),
  targetName: key(text(objectName), {
    description: 'The name of the copy in the shoot.',
    default: "the object's own name",
    example: 'sops-age',
  }),
});

/** An entry of `addons`, whose short form is the name alone. */
export const listedAddonSchema = z.strictObject({
  name: requiredKey(text(objectName), { description: 'The name of the addon.', example: 'minio' }),
  values: key(z.looseObject({}), {
    description: 'Values of its chart, as far as the operators permit them.',
    example: '{ persistence: { size: 10Gi } }',
  }),
});

/** What is said about `addons`, also as a key of `flux-config`. */
export const addonsDoc = {
  description:
    'Names of addons that the operators of the landscape offer. In a FluxConfig, an entry may also be an object with `name` and `values`.',
  example: 'cert-manager, minio',
};

/** The keys of a FluxConfig that are no parts with rules of their own. */
export const plainKeys = {
  existingSecrets: key(listOf(placedName), {
    description:
      "Secrets that sources, Kustomizations, `objects` and `flux.patches` name and that come from elsewhere, such as the shoot's own tooling: `name` in Flux's namespace, or `namespace/name`.",
    example: 'slack-url, apps/registry-credentials',
  }),
  existingConfigMaps: key(listOf(placedName), {
    description: 'The same for ConfigMaps.',
    example: 'cluster-variables',
  }),
  ...settings,
};

/** The FluxConfig, without the content of its parts. */
export const providerConfigSchema = z.strictObject({
  apiVersion: key(z.literal(PROVIDER_CONFIG_API), { description: 'Optional.', example: PROVIDER_CONFIG_API }),
  kind: key(z.literal('FluxConfig'), { description: 'Optional.', example: 'FluxConfig' }),
  flux: z.optional(z.looseObject({})),
  source: z.optional(z.looseObject({})),
  kustomization: z.optional(z.looseObject({})),
  sources: key(z.array(z.looseObject({})), {
    description:
      'Several sources, instead of `source`: each entry is what `source` is. The first one is the source of the root Kustomization; the others need a name.',
    example:
      '{ template: { kind: GitRepository, spec: { url: https://github.com/org/fleet, ref: { branch: main } } } }',
  }),
  kustomizations: key(z.array(z.looseObject({})), {
    description:
      'Several Kustomizations, instead of `kustomization`: each entry is what `kustomization` is. The first one is the root Kustomization; the others need a name.',
    example: '{ template: { spec: { path: ./infrastructure } } }',
  }),
  objects: key(z.array(z.looseObject({})), {
    description:
      "Other objects of Flux's own kinds, each as a whole manifest, such as a HelmRelease, an Alert or further GitRepositories and Kustomizations.",
    example: '{ kind: Provider, metadata: { name: slack }, spec: { type: slack, secretRef: { name: slack-url } } }',
  }),
  addons: key(z.array(z.any()), addonsDoc),
  existingSecrets: plainKeys.existingSecrets,
  existingConfigMaps: plainKeys.existingConfigMaps,
  additionalSecretResources: z.optional(z.array(z.looseObject({}))),
  ...settings,
});
