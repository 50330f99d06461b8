import type { ConfigIssue } from '../errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import { sizeProblem } from './limits.ts';
import { issueOf, type Origins } from './origins.ts';
import {
  FLUX_REGISTRY,
  FLUX_REGISTRY_CA,
  FLUX_SOPS,
  FLUX_VARIABLES,
  type ProjectSecretName,
  projectSecretNames,
} from './project-config.ts';
import { needsCertificate, needsRegistry } from './project-secret-content.ts';
import type { ConfigInputs, FluxInstall, Layer } from './types.ts';
import { asObject, type JsonObject } from './values.ts';

/** The Secrets of the project that reach a Shoot. */
export interface ProjectSecrets {
  names: ReadonlySet<string>;
  /**
   * True: each is copied, and wires itself to what needs it. False: the project has no `flux-config`, and a Secret counts
   * only where the configuration names it.
   */
  areWired: boolean;
  /** The registries for which `flux-registry` has credentials; absent: unknown. */
  registryHosts?: readonly string[] | undefined;
  /** True: `flux-registry` has the certificate of their authority. */
  hasCertificate: boolean;
}

/**
 * Returns the names of the Secrets to look for. Without a `flux-config` only those that the configuration mentions: a
 * project that has never heard of them must not pay for looking.
 */
export function neededProjectSecrets({ fluxConfig, providerConfig, landscape }: ConfigInputs): ProjectSecretName[] {
  if (fluxConfig !== undefined) return [...projectSecretNames];
  const written = [providerConfig, landscape?.defaults].filter((value) => sizeProblem(value) === undefined);
  const text = JSON.stringify(written);
  const isNamed = (name: string) => text.includes(`"${name}"`);
  return projectSecretNames.filter((name) => isNamed(name) || (name === FLUX_REGISTRY && isNamed(FLUX_REGISTRY_CA)));
}

/** Returns the Secrets that can be used, and what is wrong with the others. */
export function projectSecretsOf({ projectSecrets = [], fluxConfig }: ConfigInputs) {
  const usable = projectSecrets.filter(({ problem }) => problem === undefined);
  const issues = projectSecrets.flatMap(({ name, namespace, problem }) =>
    problem === undefined
      ? []
      : [{ object: `Secret ${namespace === '' ? '' : `${namespace}/`}${name}`, path: '', message: problem }],
  );
  const names = new Set<string>(usable.map(({ name }) => name));
  const { hosts, hasCertificate = false } = projectSecrets.findLast(({ name }) => name === FLUX_REGISTRY) ?? {};
  const areWired = fluxConfig !== undefined;
  const secrets: ProjectSecrets = { names, areWired, registryHosts: hosts, hasCertificate };
  return { secrets, issues };
}

/** A source may name the project's credentials of registries without an entry in `spec.resources`; they must exist. */
export function unknownSecretIssues(
  { projectSecrets }: ConfigInputs,
  { content }: Layer,
  source: KubeObject | undefined,
  origins: Origins,
): ConfigIssue[] {
  const isNamed = asObject(asObject(source?.spec)?.secretRef)?.name === FLUX_REGISTRY;
  const isElsewhere = content.sources?.[0]?.secret !== undefined;
  if (!isNamed || isElsewhere || projectSecrets === undefined) return [];
  if (projectSecrets.some(({ name }) => name === FLUX_REGISTRY)) return [];
  const message = `is ${FLUX_REGISTRY}, a Secret that the project does not have; create it beside the Shoot, or set secretResourceName`;
  return [issueOf(origins, 'source.spec.secretRef.name', message)];
}

/** Puts the credentials of the registry on the Deployments, unless the configuration names others. */
export function wiredInstall(flux: FluxInstall, { names, areWired }: ProjectSecrets): FluxInstall {
  if (!areWired || !names.has(FLUX_REGISTRY) || flux.imagePullSecret !== undefined) return flux;
  return { ...flux, imagePullSecret: FLUX_REGISTRY };
}

/** Adds the references to Secrets of the project that a Flux object needs and does not have. */
export function wired(object: KubeObject, project: ProjectSecrets, fluxNamespace: string): KubeObject {
  const { names, areWired } = project;
  if (object.kind !== 'Kustomization') return withCertificate(withCredentials(object, project), project);
  if (!areWired) return object;
  const spec = asObject(object.spec) ?? {};
  const decryption = names.has(FLUX_SOPS) && spec.decryption === undefined;
  const postBuild = names.has(FLUX_VARIABLES)
    ? withVariables(asObject(spec.postBuild) ?? {}, (object.metadata.namespace ?? fluxNamespace) === fluxNamespace)
    : undefined;
  return {
    ...object,
    spec: {
      ...spec,
      ...(decryption && { decryption: { provider: 'sops', secretRef: { name: FLUX_SOPS } } }),
      ...(postBuild && { postBuild }),
    },
  };
}

function withCredentials(object: KubeObject, { names, areWired, registryHosts }: ProjectSecrets): KubeObject {
  if (!areWired || !names.has(FLUX_REGISTRY) || !needsRegistry(object, registryHosts)) return object;
  return { ...object, spec: { ...asObject(object.spec), secretRef: { name: FLUX_REGISTRY } } };
}

/** The certificate belongs to the credentials, so it is also there where the configuration itself names these. */
function withCertificate(object: KubeObject, { hasCertificate, registryHosts }: ProjectSecrets): KubeObject {
  if (!hasCertificate || !needsCertificate(object, registryHosts)) return object;
  return { ...object, spec: { ...asObject(object.spec), certSecretRef: { name: FLUX_REGISTRY_CA } } };
}

/**
 * Adds the variables of the project below those that the Kustomization names itself, because later entries win. Where it
 * names none, the facts of the Shoot come along, which are only in the namespace of Flux. Optional, so that a Secret that
 * the project removes does not make a Kustomization fail before it changes.
 */
function withVariables(postBuild: JsonObject, hasFacts: boolean): JsonObject | undefined {
  const given = Array.isArray(postBuild.substituteFrom) ? postBuild.substituteFrom : undefined;
  const isNamed = given?.map(asObject).some((entry) => entry?.name === FLUX_VARIABLES && entry.kind === 'Secret');
  if (isNamed === true) return undefined;
  const facts = { kind: 'ConfigMap', name: 'shoot-facts', optional: true };
  const variables = { kind: 'Secret', name: FLUX_VARIABLES, optional: true };
  return {
    ...postBuild,
    substituteFrom: [...(given === undefined && hasFacts ? [facts] : []), variables, ...(given ?? [])],
  };
}
