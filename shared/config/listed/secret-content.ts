import type { KubeObject } from '../../kube/resource.ts';
import { gitHost } from '../../ssh/git-hosts.ts';
import { readIdentity } from '../../ssh/identity.ts';
import { hostKeys, missingHostKey, sshHost } from '../../ssh/known-hosts.ts';
import { isSsh } from '../checks.ts';
import { githubAppProblem } from '../project-secret-content.ts';
import { TLS_KEYS, type Values, valuesProblem } from '../secret-values.ts';
import { asObject, asString, type JsonObject } from '../values.ts';

/**
 * Returns what is wrong with the values that Flux reads of a Secret, with the key and the remedy; undefined if nothing is.
 * @param path of the field of the object that names the Secret, as `secretUses` returns it
 */
export function contentProblem({ kind, spec }: KubeObject, path: string, data: Values): string | undefined {
  const fields = asObject(spec) ?? {};
  if (kind === 'GitRepository' && path === 'spec.secretRef') {
    return gitValuesProblem({ url: asString(fields.url) ?? '', provider: asString(fields.provider) }, data);
  }
  if (path === 'spec.decryption.secretRef') {
    const keys = Object.keys(data).filter((key) => key.endsWith('.agekey'));
    return valuesProblem(keys, data);
  }
  const read = path === 'spec.secretRef' ? values[kind]?.(fields) : otherValues[path.slice('spec.'.length)];
  return read && valuesProblem(read, data);
}

/** The keys of the credentials in `secretRef` whose values Flux takes as they are. Those of a Provider depend on its type. */
const values: Readonly<Record<string, (spec: JsonObject) => readonly string[]>> = {
  OCIRepository: () => ['.dockerconfigjson'],
  Bucket: () => ['accesskey', 'secretkey', 'accountKey', 'sasKey'],
  HelmRepository: () => ['.dockerconfigjson', 'username', 'password', ...TLS_KEYS],
  ImageRepository: () => ['.dockerconfigjson'],
  // The other types compare nothing with it.
  Receiver: ({ type }) => (/^(github|gitlab|bitbucket|generic-hmac|harbor|nexus)$/.test(`${type}`) ? ['token'] : []),
};

const otherValues: Readonly<Record<string, readonly string[]>> = {
  proxySecretRef: ['address', 'username', 'password'],
  certSecretRef: TLS_KEYS,
  'sts.certSecretRef': TLS_KEYS,
};

/**
 * Returns what is wrong with the credentials of a Git repository, with the key and the remedy; of its keys, only those that
 * Flux reads count.
 */
export function gitValuesProblem({ url, provider }: { url: string; provider?: string | undefined }, data: Values) {
  if (provider === 'github') return githubAppProblem(data) ?? githubKeyProblem(data) ?? valuesProblem(TLS_KEYS, data);
  if (!isSsh(url)) {
    const login = data.bearerToken === undefined ? ['username', 'password'] : ['bearerToken'];
    return valuesProblem([...login, ...TLS_KEYS], data);
  }
  return valuesProblem(['identity', 'known_hosts'], data) ?? keyTypeProblem(url, data) ?? hostKeyProblem(url, data);
}

/** GitHub issues RSA keys only. */
function githubKeyProblem({ githubAppPrivateKey = '' }: Values): string | undefined {
  const read = readIdentity(githubAppPrivateKey);
  const remedy = 'add the whole file that GitHub has generated';
  if ('problem' in read) return `githubAppPrivateKey ${read.problem}; ${remedy}`;
  return read.publicKey.type === 'ssh-rsa' ? undefined : `githubAppPrivateKey is no RSA key; ${remedy}`;
}

function keyTypeProblem(url: string, { identity, password }: Values): string | undefined {
  const { name, keyType } = gitHost(url);
  const read = identity === undefined || keyType === undefined ? undefined : readIdentity(identity, password);
  if (read === undefined || 'problem' in read || read.publicKey.type === 'ssh-rsa') return undefined;
  return `identity is a key of type ${read.publicKey.type}, and ${name} takes RSA keys only; replace it with an RSA key`;
}

function hostKeyProblem(url: string, { known_hosts }: Values): string | undefined {
  if (known_hosts === undefined || !URL.canParse(url)) return undefined;
  const host = sshHost(url);
  return hostKeys(known_hosts, host).length > 0 ? undefined : `known_hosts ${missingHostKey(known_hosts, host)}`;
}
