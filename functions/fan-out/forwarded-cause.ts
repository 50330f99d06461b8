import { hash } from 'node:crypto';
import { FLUX_CONFIG, FLUX_SOURCE, FLUX_STATUS, projectSecretNames } from '../../shared/config/project-config.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type ObjectMeta, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Cause } from '../../shared/runtime/change-request.ts';
import { GARDEN, type ReconcileKey } from '../../shared/runtime/key.ts';

/** The cause that is forwarded: an object's, so that it carries no attempts of this function to others. */
export type ForwardedCause = Cause & { type: 'object' };

/** Identities of a project's configuration and Secrets, as they are in the garden. */
export interface Versions {
  config: Pick<ObjectMeta, 'uid' | 'resourceVersion'> | undefined;
  /** Of the Secrets of the project, always in the same order. */
  secrets: { name: string; version: Pick<ObjectMeta, 'uid' | 'resourceVersion'> | undefined }[];
}

const SECRETS = [FLUX_SOURCE, ...projectSecretNames];

/** Reads the versions of ConfigMap and Secrets, and nothing of their content. */
export async function readVersions(garden: KubeClient, { namespace }: ReconcileKey): Promise<Versions> {
  const versionOf = async (resource: Resource, name: string) =>
    (await garden.find(resource, { namespace, name }, { metadataOnly: true }))?.metadata;
  const [config, ...secrets] = await Promise.all([
    versionOf(resources.configMaps, FLUX_CONFIG),
    ...SECRETS.map((name) => versionOf(resources.secrets, name)),
  ]);
  return { config, secrets: SECRETS.map((name, index) => ({ name, version: secrets[index] })) };
}

/**
 * Returns the cause to forward. It follows from what was read and not from what woke this run: causes of several edits
 * collapse into one run, and the queue would drop the newest edit as a duplicate of an older one. A repeated run forwards
 * the same cause again, which the queue drops. An absent object has no version, so the causes take its place; for a
 * Secret those that are about it, because most projects lack some of them.
 */
export function forwardedCause({ namespace }: ReconcileKey, versions: Versions, causes: Cause[]): ForwardedCause {
  const { config, secrets } = versions;
  const absent = (about: Cause[]) => `absent-${digest(about.map(identity).sort())}`;
  const about = (name: string) =>
    causes.filter((cause) => cause.type === 'object' && cause.kind === 'Secret' && cause.name === name);
  return {
    type: 'object',
    cluster: GARDEN,
    kind: 'ConfigMap',
    namespace,
    name: FLUX_CONFIG,
    uid: config?.uid ?? 'absent',
    resourceVersion: config?.resourceVersion ?? absent(causes),
    ...(config === undefined && { deleted: true }),
    also: digest(
      secrets.flatMap(({ name, version }) => [
        version?.uid ?? 'absent',
        version?.resourceVersion ?? absent(about(name)),
      ]),
    ),
    // After a start there may be thousands; they are handled last.
    ...(causes.length > 0 && causes.every((cause) => 'listed' in cause && cause.listed === true) && { listed: true }),
  };
}

/**
 * Returns the cause with which each Shoot writes its line again. Nothing of the ConfigMap is read, so it follows from the
 * causes. Nothing waits for it, so it is handled last, like everything that is found by a list.
 */
export function rebuildCause({ namespace }: ReconcileKey, causes: Cause[]): ForwardedCause {
  const also = digest(causes.map(identity).sort());
  const object = {
    kind: 'ConfigMap',
    namespace,
    name: FLUX_STATUS,
    uid: 'rebuilt',
    resourceVersion: `rebuilt-${also}`,
  };
  return { type: 'object', cluster: GARDEN, ...object, also, listed: true };
}

/** Without the flags, which a repetition of the same change may lack. */
function identity(cause: Cause): string {
  const { awaited: _, listed: __, attempt: ___, ...rest } = { awaited: 0, listed: 0, attempt: 0, ...cause };
  return JSON.stringify(Object.entries(rest).sort());
}

function digest(texts: string[]): string {
  return hash('sha256', texts.join('\n'), 'base64url').slice(0, 12);
}
