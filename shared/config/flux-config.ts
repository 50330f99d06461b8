import * as z from 'zod/mini';
import type { ConfigIssue } from '../errors.ts';
import { normalVersion, objectName, withPort } from './checks.ts';
import { customDocs, digestModes, sizes } from './custom-options.ts';
import { fluxConfigFields } from './flux-config-fields.ts';
import { binaryIssues, type FluxConfigMap, fluxConfigObject } from './flux-config-map.ts';
import {
  deletionPolicies,
  flagText,
  listText,
  logLevels,
  optionChecks,
  optionDocs,
  syncModes,
} from './flux-options.ts';
import { type Layer, type LayerContent, noContent, unreadLayer } from './layer.ts';
import { limits } from './limits.ts';
import { type Origins, optionOrigins } from './origins.ts';
import { FLUX_SOURCE, MAIN_GIT_REPOSITORY, MAIN_KUSTOMIZATION } from './project-config.ts';
import { type Repository, repositoryIssues, repositoryKeys, repositoryOf, trimmed } from './repository.ts';
import { key, schemaIssues, text } from './schema.ts';
import { defaultIntervals } from './templates.ts';

/** The keys of the ConfigMap `flux-config`; every value is a string. */
export const fluxConfigSchema = z.strictObject({
  fluxVersion: key(text(optionChecks.version), optionDocs.version),
  ...repositoryKeys,
  syncMode: key(z.enum(syncModes), optionDocs.syncMode),
  deletionPolicy: key(z.enum(deletionPolicies), optionDocs.deletionPolicy),
  suspend: key(flagText(), optionDocs.suspend),
  adopt: key(flagText(), optionDocs.adopt),
  registry: key(text(optionChecks.registry), optionDocs.registry),
  namespace: key(text(optionChecks.namespace), optionDocs.namespace),
  components: key(listText(optionChecks.component), optionDocs.components),
  componentsExtra: key(listText(optionChecks.component), optionDocs.componentsExtra),
  imagePullSecret: key(text(optionChecks.imagePullSecret), optionDocs.imagePullSecret),
  networkPolicy: key(flagText(), optionDocs.networkPolicy),
  watchAllNamespaces: key(flagText(), optionDocs.watchAllNamespaces),
  logLevel: key(z.enum(logLevels), optionDocs.logLevel),
  clusterDomain: key(text(optionChecks.clusterDomain), optionDocs.clusterDomain),
  tolerationKeys: key(listText(optionChecks.tolerationKey), optionDocs.tolerationKeys),
  multiTenancy: key(flagText(), optionDocs.multiTenancy),
  tenantDefaultServiceAccount: key(text(objectName), customDocs.tenantDefaultServiceAccount),
  size: key(z.enum(sizes), customDocs.size),
  priorityClass: key(text(objectName), customDocs.priorityClass),
  imageDigests: key(z.enum(digestModes), customDocs.imageDigests),
  sopsAgeSecret: key(text(objectName), customDocs.sopsAgeSecret),
  'config.yaml': key(text(undefined, limits.configuration), {
    description:
      'A whole [FluxConfig](#providerconfig) as YAML, for what the other keys cannot say. It must not repeat a key.',
    example: 'flux: { logLevel: debug }',
  }),
  'overrides.yaml': key(text(undefined, limits.configuration), {
    description:
      'A list of [deviations for some Shoots](#overridesyaml) as YAML, selected by the labels of the Shoots.',
    example: '[{ selector: { matchLabels: { stage: dev } }, config: { flux: { logLevel: debug } } }]',
  }),
  rollout: key(text(), {
    description: '[How an edit reaches the Shoots](#rollout) of the project, as YAML. Absent: all at once.',
    example: '{ maxInProgress: 10%, maxFailed: 5% }',
  }),
});

type FluxConfigKeys = z.infer<typeof fluxConfigSchema>;

/** Reads the ConfigMap `flux-config`. */
export function readFluxConfig(fluxConfig: FluxConfigMap): Layer {
  const object = fluxConfigObject(fluxConfig.namespace);
  if (fluxConfig.tooLarge !== undefined) return unreadLayer({ object, path: '' }, [fluxConfig.tooLarge]);
  const data = trimmed(fluxConfig.data);
  const parsed = fluxConfigSchema.safeParse(data);
  return {
    object,
    path: '',
    isRead: true,
    content: parsed.success ? toContent(parsed.data) : noContent,
    sets: { source: data.repositoryUrl !== undefined, kustomization: data.repositoryUrl !== undefined },
    knownHosts: parsed.data?.knownHosts,
    origins: parsed.success ? originsOf(object, parsed.data) : {},
    issues: [
      ...schemaIssues(object, fluxConfigSchema, data),
      ...repositoryIssues(object, data),
      ...binaryIssues(fluxConfig),
    ],
    warnings: portWarnings(object, parsed.data?.repositoryUrl),
  };
}

/** Such an address is valid, but no server answers where the number was meant as a port. */
function portWarnings(object: string, url: string | undefined): ConfigIssue[] {
  const port = url === undefined ? undefined : withPort(url);
  if (port === undefined) return [];
  const message = `has no port, because a number after the colon is a folder; write ${port} if a port is meant`;
  return [{ object, path: 'repositoryUrl', message }];
}

function originsOf(object: string, keys: FluxConfigKeys): Origins {
  const { flux } = toContent(keys);
  // A list is one string here, so its entries have no path of their own.
  const options = optionOrigins(flux, (option) => ({ object, path: option === 'version' ? 'fluxVersion' : option }));
  const others = Object.entries(fluxConfigFields).filter(([key]) => keys[key as keyof FluxConfigKeys] !== undefined);
  return { ...options, ...Object.fromEntries(others.map(([key, field]) => [field, { object, path: key }])) };
}

function toContent(keys: FluxConfigKeys): LayerContent {
  const { registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy } = keys;
  const { watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy } = keys;
  const { tenantDefaultServiceAccount, size, priorityClass, imageDigests, sopsAgeSecret } = keys;
  const { syncMode, deletionPolicy, suspend, adopt } = keys;
  const version = keys.fluxVersion === undefined ? undefined : normalVersion(keys.fluxVersion);
  const repository = repositoryOf(keys);
  return {
    flux: {
      ...{ version, registry, namespace, components, componentsExtra, imagePullSecret, networkPolicy },
      ...{ watchAllNamespaces, logLevel, clusterDomain, tolerationKeys, multiTenancy },
      ...{ tenantDefaultServiceAccount, size, priorityClass, imageDigests, sopsAgeSecret },
    },
    syncMode,
    deletionPolicy,
    suspend,
    adopt,
    source: repository && gitRepository(keys, repository),
    kustomization: repository && kustomization(keys),
    additionalSecrets: [],
  };
}

function gitRepository(keys: FluxConfigKeys, repository: Repository): LayerContent['source'] {
  const ref = {
    ...(keys.repositoryBranch !== undefined && { branch: keys.repositoryBranch }),
    ...(keys.repositoryTag !== undefined && { tag: keys.repositoryTag }),
    ...(keys.repositorySemver !== undefined && { semver: keys.repositorySemver }),
    ...(keys.repositoryCommit !== undefined && { commit: keys.repositoryCommit }),
  };
  const isPrivate = repository.type === 'private';
  return {
    template: {
      kind: 'GitRepository',
      metadata: { name: MAIN_GIT_REPOSITORY },
      spec: {
        interval: keys.repositoryInterval ?? defaultIntervals.repository,
        url: repository.url,
        ...(repository.provider !== undefined && { provider: repository.provider }),
        ...(Object.keys(ref).length > 0 && { ref }),
        ...(isPrivate && { secretRef: { name: FLUX_SOURCE } }),
      },
    },
    secret: isPrivate ? { type: 'flux-source' } : undefined,
  };
}

function kustomization(keys: FluxConfigKeys): LayerContent['kustomization'] {
  return {
    metadata: { name: MAIN_KUSTOMIZATION },
    spec: {
      interval: keys.kustomizationInterval ?? defaultIntervals.kustomization,
      path: keys.repositoryPath ?? './',
      prune: true,
      targetNamespace: 'default',
    },
  };
}
