import { type FailingObject, failing, HOUR, secretRef } from './object.ts';

/** Kustomizations that need keys or other sources; flux-failures.ts has the failures of folders. */
export function failingKustomizations(): FailingObject[] {
  const failed = failing('Kustomization');
  const all = { ...HOUR, retryInterval: '5s', prune: false, sourceRef: { kind: 'GitRepository', name: 'good' } };
  const decrypted = (path: string, key: string) => ({
    ...{ ...all, path, decryption: { provider: 'sops', ...secretRef(key) } },
  });
  const from = (kind: string, name: string) => ({ ...all, path: './', sourceRef: { kind, name } });
  return [
    failed(
      'other-key',
      decrypted('./age', 'other-age'),
      'DecryptionFailed',
      'the original of Secret flux-system/other-age',
    ),
    failed('passphrase', decrypted('./pgp', 'pgp'), 'DecryptionFailed', 'in .asc for a PGP key without a passphrase'),
    failed('no-key', decrypted('./age', 'no-age'), 'DecryptionKeyMissing', 'is not a usable decryption key'),
    failed('waits', from('GitRepository', 'branch'), 'SourceNotReady', 'check GitRepository branch'),
    failed('waits-for-oci', from('OCIRepository', 'tag'), 'SourceNotReady', 'check OCIRepository tag'),
  ];
}
