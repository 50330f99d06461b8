import type { KubeObject } from '../kube/resource.ts';
import { DOCKER_CONFIG } from './pull-secret.ts';
import { asObject, asString, type JsonObject } from './values.ts';

/** What the images of Docker Hub are called in credentials. */
const DOCKER_HUB = 'index.docker.io';

/** Returns the registries for which a Secret of type `kubernetes.io/dockerconfigjson` has credentials. */
export function registryHosts({ data }: KubeObject): string[] {
  const text = Buffer.from(asString(asObject(data)?.[DOCKER_CONFIG]) ?? '', 'base64').toString('utf8');
  return Object.keys(asObject(asObject(parsed(text))?.auths) ?? {}).map(hostOf);
}

/**
 * Returns whether the project's credentials of registries are for what this object reads.
 * @param hosts the registries of the credentials; absent: unknown
 */
export function needsRegistry({ kind, spec }: KubeObject, hosts: readonly string[] | undefined): boolean {
  const fields = asObject(spec) ?? {};
  if (!isWithoutCredentials(fields)) return false;
  // An OCIRepository reads anonymously what the credentials do not name.
  if (kind === 'OCIRepository') return true;
  const host = hostRead(kind, fields);
  // The other two fail with credentials for another registry.
  return host !== undefined && hosts?.includes(host) === true;
}

/** With a provider or a ServiceAccount the user has chosen another way to log in. */
function isWithoutCredentials({ secretRef, serviceAccountName, provider }: JsonObject): boolean {
  return secretRef === undefined && serviceAccountName === undefined && (provider ?? 'generic') === 'generic';
}

function hostRead(kind: string, { type, url, image }: JsonObject): string | undefined {
  if (kind === 'HelmRepository') return type === 'oci' ? hostOf(asString(url) ?? '') : undefined;
  return kind === 'ImageRepository' ? imageHost(asString(image) ?? '') : undefined;
}

/** `app`, `org/app` and `docker.io/org/app` are images of Docker Hub. */
function imageHost(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  return isHost && first !== 'docker.io' ? first : DOCKER_HUB;
}

/** Credentials may be written for `https://host/v1/` or for `host/path`. */
function hostOf(address: string): string {
  return address.replace(/^[a-z]+:\/\//, '').replace(/\/.*$/s, '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
