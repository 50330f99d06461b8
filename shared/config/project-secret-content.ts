import type { KubeObject } from '../kube/resource.ts';
import { parsedJson } from '../shapes.ts';
import { variableName } from './checks.ts';
import { FLUX_REGISTRY, FLUX_SOPS, FLUX_VARIABLES, type ProjectSecretName } from './project-config.ts';
import { quote } from './quote.ts';
import { encodingProblem, valuesProblem } from './secret-values.ts';
import type { ProjectSecret } from './types.ts';
import { asObject, asString } from './values.ts';

/** The content of a Secret in base64. */
type Data = Readonly<Record<string, string>>;

/**
 * Why a Secret of the project cannot be used, with the remedy. Flux would report the same in each Shoot, and only once it
 * tries. Quotes names of keys, never their content.
 */
const problems: Record<ProjectSecretName, (secret: KubeObject) => string | undefined> = {
  [FLUX_REGISTRY]: registryProblem,
  [FLUX_SOPS]: sopsProblem,
  [FLUX_VARIABLES]: variablesProblem,
};

/** Returns what the configuration may know of a Secret of the project. */
export function projectSecretOf(name: ProjectSecretName, namespace: string, secret: KubeObject): ProjectSecret {
  const problem = problems[name](secret);
  return {
    name,
    namespace,
    // A Secret with a problem may be too large to be read.
    ...(problem !== undefined ? { problem } : name === FLUX_REGISTRY && registryFacts(secret)),
  };
}

function registryFacts(secret: KubeObject): Pick<ProjectSecret, 'hosts' | 'hasCertificate'> {
  return { hosts: registryHosts(secret), ...(dataOf(secret)[CERTIFICATE] !== undefined && { hasCertificate: true }) };
}

/** Credentials of registries, for nodes and for Flux, and maybe the certificate of their authority. */
function registryProblem(secret: KubeObject): string | undefined {
  const { [CERTIFICATE]: certificate } = dataOf(secret);
  const again = certificate === undefined ? '' : `, and add ${CERTIFICATE} again`;
  const remedy = `recreate it with kubectl create secret docker-registry${again}`;
  const problem = pullSecretProblem(secret);
  if (problem !== undefined) return `${problem}; ${remedy}`;
  if (registryHosts(secret).length === 0) return `has no registry under auths in ${DOCKER_CONFIG}; ${remedy}`;
  const wrong =
    certificate === undefined ? undefined : valuesProblem([CERTIFICATE], { [CERTIFICATE]: textOf(certificate) });
  return wrong && `has a ${wrong.replace(CERTIFICATE, `${CERTIFICATE} that`)}`;
}

/** Not `\s`: from each of half a million empty lines it would read all that follow. */
const AGE_KEY = /^[ \t]*AGE-(?:SECRET-KEY|PLUGIN)-/m;
const PGP_BLOCK = '-----BEGIN PGP ';
const PGP_PRIVATE_KEY = '-----BEGIN PGP PRIVATE KEY BLOCK-----';

/** Keys with which Flux logs in to key services. */
const KEY_SERVICES = new Set(['sops.vault-token', 'sops.aws-kms', 'sops.azure-kv', 'sops.gcp-kms']);

/** Keys that decrypt; Flux recognises them by the ends of their names, and fails at one that it cannot read. */
function sopsProblem(secret: KubeObject): string | undefined {
  const data = dataOf(secret);
  let canDecrypt = false;
  for (const [name, value] of Object.entries(data)) {
    if (KEY_SERVICES.has(name)) canDecrypt = true;
    if (name.endsWith('.agekey')) {
      const encoding = encodingProblem(textOf(value));
      if (encoding !== undefined) return `has a value in ${quote(name)} that ${encoding}`;
      if (!AGE_KEY.test(textOf(value))) {
        return `has no line AGE-SECRET-KEY-… in ${quote(name)}; add the private key as age-keygen prints it`;
      }
      canDecrypt = true;
    }
    if (name.endsWith('.asc')) {
      const text = textOf(value);
      if (!text.includes(PGP_BLOCK)) {
        return `has no armored PGP key in ${quote(name)}; add the key as gpg --export-secret-keys --armor prints it`;
      }
      if (text.includes(PGP_PRIVATE_KEY)) canDecrypt = true;
    }
  }
  return canDecrypt
    ? undefined
    : 'has no key that decrypts; add a private key under a name that ends in .agekey (age) or .asc (PGP)';
}

/** Variables for `substituteFrom`; one wrong name makes the whole Kustomization fail. */
function variablesProblem(secret: KubeObject): string | undefined {
  const wrong = Object.keys(dataOf(secret)).find((name) => variableName(name) !== undefined);
  return (
    wrong &&
    `has the key ${quote(wrong)}, which is no name of a variable; use letters, digits and '_', not starting with a digit`
  );
}

function dataOf({ data }: KubeObject): Data {
  return (asObject(data) ?? {}) as Data;
}

function textOf(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('utf8');
}

/** The type of a Secret for pulling images, and its key. */
export const DOCKER_CONFIG_TYPE = 'kubernetes.io/dockerconfigjson';
export const DOCKER_CONFIG = '.dockerconfigjson';

/** The key of certificates of authorities. */
export const CERTIFICATE = 'ca.crt';

/** In base64. The landscape's is copied into every Shoot, beside the copies that users ask for. */
const MOST_KIB = 64;

/** Returns why a Secret cannot be a pull secret; never its content. */
export function pullSecretProblem(secret: KubeObject | undefined): string | undefined {
  if (secret === undefined) return 'does not exist';
  const content = (secret.data as Record<string, string> | undefined)?.[DOCKER_CONFIG];
  if (secret.type !== DOCKER_CONFIG_TYPE) return `is not of type ${DOCKER_CONFIG_TYPE}`;
  if (content === undefined || content === '') return `has no ${DOCKER_CONFIG}`;
  return content.length > MOST_KIB * 1024 ? `is longer than ${MOST_KIB} KiB` : undefined;
}

/** What the images of Docker Hub are called in credentials. */
const DOCKER_HUB = 'index.docker.io';

/** Returns the registries for which a Secret of type `kubernetes.io/dockerconfigjson` has credentials. */
function registryHosts(secret: KubeObject): string[] {
  const config = asObject(parsedJson(textOf(dataOf(secret)[DOCKER_CONFIG])));
  return Object.keys(asObject(config?.auths) ?? {}).map(hostOf);
}

/**
 * Returns whether the project's credentials of registries are for what this object reads.
 * @param hosts the registries of the credentials; absent: unknown
 */
export function needsRegistry({ kind, spec }: KubeObject, hosts: readonly string[] = []): boolean {
  const { secretRef, serviceAccountName, provider, type, url, image } = asObject(spec) ?? {};
  // With a provider or a ServiceAccount the user has chosen another way to log in.
  if (secretRef !== undefined || serviceAccountName !== undefined || (provider ?? 'generic') !== 'generic')
    return false;
  // An OCIRepository reads anonymously what the credentials do not name.
  if (kind === 'OCIRepository') return true;
  // The other two fail with credentials for another registry.
  if (kind === 'HelmRepository') return type === 'oci' && hosts.includes(hostOf(asString(url) ?? ''));
  return kind === 'ImageRepository' && hosts.includes(imageHost(asString(image) ?? ''));
}

/**
 * Returns whether an object that logs in with the project's credentials trusts the authority beside them.
 * @param hosts the registries of the credentials
 */
export function needsCertificate({ kind, spec }: KubeObject, hosts: readonly string[] = []): boolean {
  const { secretRef, certSecretRef, insecure, type, image } = asObject(spec) ?? {};
  const isOwn = certSecretRef !== undefined || insecure === true;
  if (asObject(secretRef)?.name !== FLUX_REGISTRY || isOwn) return false;
  // source-controller trusts public authorities as well, and image-reflector-controller nothing but the certificate.
  if (kind === 'ImageRepository')
    return hosts.length > 0 && hosts.every((host) => host === imageHost(asString(image) ?? ''));
  return kind === 'OCIRepository' || (kind === 'HelmRepository' && type === 'oci');
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

/** Keys of `flux-source` with which Flux authenticates as a GitHub App. */
export const GITHUB_APP_KEYS = [
  'githubAppID',
  'githubAppInstallationID',
  'githubAppInstallationOwner',
  'githubAppPrivateKey',
] as const;

/** As far as Flux can count. */
const NUMBER = /^\d{1,18}$/;

/** Flux finds a key only if its first line is a line of its own. */
const PEM = /^(?:\s*\n)?-----BEGIN (?:RSA )?PRIVATE KEY-----[ \t\r]*\n/;

/**
 * Returns why these credentials of a GitHub App cannot be used, with the remedy; never their content.
 * @param data the content as text
 */
export function githubAppProblem(data: Readonly<Record<string, string>>): string | undefined {
  const { githubAppID, githubAppInstallationID, githubAppInstallationOwner, githubAppPrivateKey } = data;
  if (githubAppID === undefined) return 'githubAppID is missing; add the ID of the GitHub App';
  if (githubAppInstallationID !== undefined && githubAppInstallationOwner !== undefined) {
    return 'has both githubAppInstallationID and githubAppInstallationOwner; remove one of them';
  }
  if (githubAppInstallationID === undefined && githubAppInstallationOwner === undefined) {
    return 'githubAppInstallationID is missing; add the ID of the installation of the GitHub App';
  }
  for (const [name, value] of Object.entries({ githubAppID, githubAppInstallationID })) {
    if (value === undefined || NUMBER.test(value)) continue;
    // Flux reads such a value as 0.
    return NUMBER.test(value.trim())
      ? `${name} has a line break or a space beside the number; write the Secret without it`
      : `${name} is not a number; copy it from the settings of the GitHub App`;
  }
  if (githubAppPrivateKey === undefined)
    return 'githubAppPrivateKey is missing; add the private key as GitHub has generated it';
  return PEM.test(githubAppPrivateKey)
    ? undefined
    : 'githubAppPrivateKey is not a private key in PEM form; add the whole file that GitHub has generated';
}
