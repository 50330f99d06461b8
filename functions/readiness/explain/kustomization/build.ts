import type { Failure } from '../remedies.ts';

/** Decryption with SOPS, variables of postBuild, and kustomize itself. */
export const buildFailures: Failure[] = [
  {
    reason: 'DecryptionKeyMissing',
    matches:
      /cannot get \S+ (?:SOPS age )?decryption Secret '([^']+)'|^(?:decryption secret error: )?secrets? "([^"]+)" not found/i,
    what: ([, name, other]) => `Secret ${name ?? other} with the decryption keys does not exist in the shoot`,
    remedy: 'create {decryption}, or correct {places.decryption}',
  },
  {
    reason: 'DecryptionKeyMissing',
    matches: /failed to import '([^']+)' data from \S+ (?:SOPS age )?decryption Secret '([^']+)'/,
    what: 'key $1 of Secret $2 is not a usable decryption key',
    remedy: 'put the complete private key into {decryption}, in the format of its suffix (.agekey, .asc)',
  },
  {
    reason: 'DecryptionNotConfigured',
    matches: /(?<!\S)(\S+) is SOPS encrypted, configuring decryption is required/,
    what: '$1 is encrypted with SOPS, but decryption is not configured',
    remedy: 'set {places.decryption} to provider sops with a secretRef',
  },
  {
    reason: 'DecryptionFailed',
    matches: /(?:decryption failed for '([^']{1,500})'.{0,1000})?(?:cannot get sops data key|Error getting data key)/s,
    what: ([, name]) => `none of the keys can decrypt ${name === undefined ? 'an encrypted file' : name}`,
    remedy:
      'add the private key of one of its recipients to {decryption} (names end in .agekey, or in .asc for a PGP key without a passphrase), or encrypt the file for an existing key',
  },
  {
    reason: 'DecryptionFailed',
    matches: /decryption failed for '([^']+)'|error decrypting (?:env )?sources/,
    what: ([, name]) => `${name ?? 'a file'} cannot be decrypted`,
    remedy: 'check that "sops --decrypt" can read it from the repository',
  },
  {
    reason: 'SubstitutionFailed',
    matches: /substitute from '(ConfigMap|Secret)\/([^']+)' error/,
    what: '$1 $2 with the variables does not exist in the namespace of the Kustomization',
    remedy: ([, kind, name = ''], { places, projectSecret }) =>
      `create ${(kind === 'Secret' && projectSecret(name)) || 'it'}, mark it optional, or correct postBuild.substituteFrom in ${places.template}`,
  },
  {
    reason: 'SubstitutionFailed',
    matches: /post build failed for '([^']+)'/,
    what: 'the variables in $1 cannot be substituted',
    remedy: 'set them in postBuild of {places.template}, or escape a literal $ as $$',
  },
  {
    reason: 'BuildFailed',
    matches: /may not add resource with an already registered id: ([^']+)/,
    what: '$1 is defined twice',
    remedy: 'remove one of the two, or exclude its file',
  },
  {
    reason: 'BuildFailed',
    matches:
      /namespace transformation produces ID conflict(?:.{0,4000}?previousKinds":"(\w{1,63})[^{}]{0,500}?previousNames":"([\w.-]{1,253}))?/s,
    what: ([, kind, name], { oneNamespace }) =>
      kind === 'Namespace'
        ? `${oneNamespace} renames every Namespace, but the repository has more than one`
        : `${oneNamespace} puts all objects into one namespace, where ${kind ?? 'an'} ${name ?? 'object'} would exist twice`,
    remedy: '{ownNamespaces}',
  },
  {
    reason: 'BuildFailed',
    matches: /no matches for Id ([^;\s]+)|unable to find patch target "([^"]+)"/,
    what: ([, id, name]) => `a patch or replacement targets ${id ?? name}, which does not exist`,
    remedy: 'correct its target, or add that object',
  },
  {
    reason: 'BuildFailed',
    matches: /MalformedYAMLError: (?:yaml: )?(line \d+)?.* in File: (\S+?)'?(?:[:\s]|$)/s,
    what: ([, line, file]) => `${file} is not valid YAML${line === undefined ? '' : ` at ${line}`}`,
    remedy: 'correct it',
  },
  {
    reason: 'BuildFailed',
    matches: /^error converting YAML to JSON: (?:yaml: )?(line \d+)?/,
    what: ([, line], { path }) =>
      `the kustomization.yaml in ${path} is not valid YAML${line === undefined ? '' : ` at ${line}`}`,
    remedy: 'correct it',
  },
  {
    reason: 'BuildFailed',
    matches: /accumulating components: .{0,500}evalsymlink failure on '(?:\/\S*?\/kustomization-\d+\/)?([^']+)'/s,
    what: 'component $1 does not exist in the source',
    remedy: 'add it, or correct components in {places.template} or in kustomization.yaml',
  },
  {
    reason: 'BuildFailed',
    matches: /unable to parse SM or JSON patch/,
    what: 'a patch cannot be parsed',
    remedy: 'correct it, in patches of {places.template} or in kustomization.yaml',
  },
  {
    reason: 'BuildFailed',
    matches: /accumulating resources from '(?![^']*': read )([^']+)': (?:open \S+: )?(?:no such file|evalsymlink|Get )/,
    what: 'kustomization.yaml refers to $1, which cannot be read',
    remedy: 'add it to the repository, or remove it from kustomization.yaml',
  },
  {
    reason: 'BuildFailed',
    matches:
      /(?:failed to decode Kubernetes YAML from|while parsing YAML file) (?:\/\S*?\/kustomization-\d+\/)?([^\s:]+)|got file '([^']+)', but/,
    what: ([, file, other]) => `${file ?? other} does not contain Kubernetes objects in YAML`,
    remedy: 'correct it, or exclude it with .sourceignore or a kustomization.yaml',
  },
  {
    reason: 'BuildFailed',
    matches: /failed to decode Kubernetes apiVersion, kind and name/,
    what: 'a manifest has no apiVersion, kind or name',
    remedy: 'correct it, or exclude it with .sourceignore or a kustomization.yaml',
  },
  {
    reason: 'BuildFailed',
    matches: /component path '([^']+)' must be local and relative/,
    what: 'component $1 is not below the path of the Kustomization',
    remedy: 'move it there, or correct components in {places.template}',
  },
  {
    reason: 'BuildFailed',
    matches: /kustomize build failed/,
    what: 'kustomize cannot build {path}',
    remedy: 'run "kustomize build {path}" in the repository to reproduce the error, and correct it',
  },
];
