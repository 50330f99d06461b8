import type { KubeObject } from '../../kube/resource.ts';
import type { CopyKind } from '../references.ts';
import { asObject, asString, type JsonObject } from '../values.ts';
import {
  awsKeys,
  azureKeys,
  certificateKeys,
  commitSignatureKeys,
  decryptionKeys,
  gitKeys,
  helmKeys,
  kubeConfigKeys,
  type NeedsKeys,
  oneKey,
  providerKeys,
  receiverKeys,
  registryKeys,
  signatureKeys,
  signingKeys,
} from './secret-keys.ts';

/** A field that names a Secret or ConfigMap in the namespace of its object. */
export interface SecretUse {
  kind: CopyKind;
  name: string;
  /** The path of the field that holds the reference, such as `spec.secretRef`. */
  path: string;
  /** Returns which key the Secret lacks; absent: it may have any. */
  needs?: NeedsKeys | undefined;
}

type Reader = (spec: JsonObject) => (SecretUse | undefined)[];

/** Returns the Secrets and ConfigMaps that an object needs. Fields of kinds that are unknown here are not checked. */
export function secretUses({ kind, spec }: KubeObject): SecretUse[] {
  const fields = asObject(spec);
  const uses = fields === undefined ? [] : (readers[kind]?.(fields) ?? []);
  return uses.filter((use) => use !== undefined);
}

const readers: Readonly<Record<string, Reader>> = {
  GitRepository: (spec) => [
    secret(spec, 'secretRef', gitKeys(asString(spec.url) ?? '', asString(spec.provider))),
    secret(spec, 'proxySecretRef', oneKey('address')),
    secret(spec, 'verify.secretRef', commitSignatureKeys),
  ],
  OCIRepository: (spec) => [
    ...registry(spec),
    secret(spec, 'verify.secretRef', signatureKeys(spec.verify)),
    secret(spec, 'verify.trustedRootSecretRef', oneKey('trusted_root.json')),
  ],
  Bucket: (spec) => [
    secret(spec, 'secretRef', bucketKeys(spec)),
    secret(spec, 'certSecretRef', certificateKeys),
    secret(spec, 'proxySecretRef', oneKey('address')),
    secret(spec, 'sts.secretRef'),
    secret(spec, 'sts.certSecretRef', certificateKeys),
  ],
  HelmRepository: (spec) => [
    secret(spec, 'secretRef', helmKeys(asString(spec.url) ?? '')),
    secret(spec, 'certSecretRef', certificateKeys),
  ],
  HelmChart: (spec) => [secret(spec, 'verify.secretRef', signatureKeys(spec.verify))],
  ImageRepository: registry,
  ImageUpdateAutomation: (spec) => {
    const path = 'git.commit.signingKey';
    return [secret(spec, `${path}.secretRef`, signingKeys(asString(asObject(valueAt(spec, path))?.type)))];
  },
  Kustomization: (spec) => [
    secret(spec, 'decryption.secretRef', decryptionKeys),
    ...kubeConfig(spec),
    ...values(asObject(spec.postBuild)?.substituteFrom, 'spec.postBuild.substituteFrom'),
  ],
  HelmRelease: (spec) => [
    secret(spec, 'chart.spec.verify.secretRef', signatureKeys(valueAt(spec, 'chart.spec.verify'))),
    ...kubeConfig(spec),
    ...values(spec.valuesFrom, 'spec.valuesFrom', 'values.yaml'),
  ],
  Provider: (spec) => [
    secret(spec, 'secretRef', providerKeys(asString(spec.type) ?? '', spec.address !== undefined)),
    secret(spec, 'certSecretRef', certificateKeys),
    secret(spec, 'proxySecretRef', oneKey('address')),
  ],
  Receiver: (spec) => [secret(spec, 'secretRef', receiverKeys(asString(spec.type) ?? ''))],
};

function registry(spec: JsonObject): (SecretUse | undefined)[] {
  return [
    secret(spec, 'secretRef', registryKeys),
    secret(spec, 'certSecretRef', certificateKeys),
    secret(spec, 'proxySecretRef', oneKey('address')),
  ];
}

function bucketKeys({ provider }: JsonObject): NeedsKeys {
  if (provider === 'gcp') return oneKey('serviceaccount');
  return provider === 'azure' ? azureKeys : awsKeys;
}

function kubeConfig(spec: JsonObject): (SecretUse | undefined)[] {
  const key = asString(asObject(asObject(spec.kubeConfig)?.secretRef)?.key);
  return [
    secret(spec, 'kubeConfig.secretRef', key === undefined ? kubeConfigKeys : oneKey(key)),
    reference('ConfigMap', spec, 'kubeConfig.configMapRef'),
  ];
}

/** @param defaultKey the key that is read if the entry names none; absent: all keys are read */
function values(entries: unknown, path: string, defaultKey?: string): (SecretUse | undefined)[] {
  const list = Array.isArray(entries) ? entries.map(asObject) : [];
  return list.map((entry, index) => {
    const kind = entry?.kind;
    const name = asString(entry?.name);
    const isOptional = entry?.optional === true || (kind !== 'Secret' && kind !== 'ConfigMap') || name === undefined;
    if (isOptional) return undefined;
    const key = asString(entry?.valuesKey) ?? defaultKey;
    return { kind, name, path: `${path}[${index}]`, needs: key === undefined ? undefined : oneKey(key) };
  });
}

function secret(spec: JsonObject, path: string, needs?: NeedsKeys): SecretUse | undefined {
  return reference('Secret', spec, path, needs);
}

function reference(kind: CopyKind, spec: JsonObject, path: string, needs?: NeedsKeys): SecretUse | undefined {
  const name = asString(asObject(valueAt(spec, path))?.name);
  return name === undefined ? undefined : { kind, name, path: `spec.${path}`, ...(needs && { needs }) };
}

function valueAt(spec: JsonObject, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, field) => asObject(inner)?.[field], spec);
}
