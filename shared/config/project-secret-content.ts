import type { KubeObject } from '../kube/resource.ts';
import { FLUX_REGISTRY, FLUX_SOPS, FLUX_VARIABLES, type ProjectSecretName } from './project-config.ts';
import { DOCKER_CONFIG, pullSecretProblem } from './pull-secret.ts';
import { quote } from './quote.ts';
import { registryHosts } from './registry-hosts.ts';
import type { ProjectSecret } from './types.ts';
import { asObject } from './values.ts';

/** The content of a Secret in base64. */
type Data = Readonly<Record<string, string>>;

const checks: Record<ProjectSecretName, (secret: KubeObject) => string | undefined> = {
  [FLUX_REGISTRY]: registryProblem,
  [FLUX_SOPS]: sopsProblem,
  [FLUX_VARIABLES]: variablesProblem,
};

/** Returns what the configuration may know of a Secret of the project. */
export function projectSecretOf(name: ProjectSecretName, namespace: string, secret: KubeObject): ProjectSecret {
  const problem = projectSecretProblem(name, secret);
  return {
    name,
    namespace,
    // A Secret with a problem may be too large to be read.
    ...(problem !== undefined ? { problem } : name === FLUX_REGISTRY && { hosts: registryHosts(secret) }),
  };
}

/**
 * Returns why a Secret of the project cannot be used, with the remedy; undefined when it can. Flux would report the same
 * in each Shoot, and only once it tries. Quotes names of keys, never their content.
 */
export function projectSecretProblem(name: ProjectSecretName, secret: KubeObject): string | undefined {
  return checks[name](secret);
}

/** Credentials of registries, for nodes and for Flux. */
function registryProblem(secret: KubeObject): string | undefined {
  const remedy = 'recreate it with kubectl create secret docker-registry';
  const problem = pullSecretProblem(secret);
  if (problem !== undefined) return `${problem}; ${remedy}`;
  const { auths } = asObject(parsed(textOf(dataOf(secret)[DOCKER_CONFIG]))) ?? {};
  return Object.keys(asObject(auths) ?? {}).length === 0
    ? `has no registry under auths in ${DOCKER_CONFIG}; ${remedy}`
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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

const VARIABLE = /^[_A-Za-z]\w*$/;

/** Variables for `substituteFrom`; one wrong name makes the whole Kustomization fail. */
function variablesProblem(secret: KubeObject): string | undefined {
  const wrong = Object.keys(dataOf(secret)).find((name) => !VARIABLE.test(name));
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
