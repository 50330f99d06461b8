import type { Failure } from '../remedies.ts';

/** Decryption with SOPS, variables of postBuild, and kustomize itself. */
export const buildFailures: Failure[] = [
  {
    reason: 'DecryptionKeyMissing',
    matches:
      /cannot get \S+ (?:SOPS age )?decryption Secret '([^']+)'|^(?:decryption secret error: )?secrets? "([^"]+)" not found/i,
    says: ([, name, other], { decryption, places }) => [
      `Secret ${name ?? other} with the decryption keys does not exist in the shoot`,
      `create ${decryption}, or correct ${places.decryption}`,
    ],
  },
  {
    reason: 'DecryptionKeyMissing',
    matches: /failed to import '([^']+)' data from \S+ (?:SOPS age )?decryption Secret '([^']+)'/,
    says: ([, key, name], { decryption }) => [
      `key ${key} of Secret ${name} is not a usable decryption key`,
      `put the complete private key into ${decryption}, in the format of its suffix (.agekey, .asc)`,
    ],
  },
  {
    reason: 'DecryptionNotConfigured',
    matches: /(?<!\S)(\S+) is SOPS encrypted, configuring decryption is required/,
    says: ([, name], { places }) => [
      `${name} is encrypted with SOPS, but decryption is not configured`,
      `set ${places.decryption} to provider sops with a secretRef`,
    ],
  },
  {
    reason: 'DecryptionFailed',
    matches: /(?:decryption failed for '([^']{1,500})'.{0,1000})?(?:cannot get sops data key|Error getting data key)/s,
    says: ([, name], { decryption }) => [
      `none of the keys can decrypt ${name === undefined ? 'an encrypted file' : name}`,
      `add the private key of one of its recipients to ${decryption} (names end in .agekey, or in .asc for a PGP key without a passphrase), or encrypt the file for an existing key`,
    ],
  },
  {
    reason: 'DecryptionFailed',
    matches: /decryption failed for '([^']+)'|error decrypting (?:env )?sources/,
    says: ([, name]) => [
      `${name ?? 'a file'} cannot be decrypted`,
      'check that "sops --decrypt" can read it from the repository',
    ],
  },
  {
    reason: 'SubstitutionFailed',
    matches: /substitute from '(ConfigMap|Secret)\/([^']+)' error/,
    says: ([, kind, name], { places }) => [
      `${kind} ${name} with the variables does not exist in the namespace of the Kustomization`,
      `create it, mark it optional, or correct postBuild.substituteFrom in ${places.template}`,
    ],
  },
  {
    reason: 'SubstitutionFailed',
    matches: /post build failed for '([^']+)'/,
    says: ([, name], { places }) => [
      `the variables in ${name} cannot be substituted`,
      `set them in postBuild of ${places.template}, or escape a literal $ as $$`,
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /may not add resource with an already registered id: ([^']+)/,
    says: ([, id]) => [`${id} is defined twice`, 'remove one of the two, or exclude its file'],
  },
  {
    reason: 'BuildFailed',
    matches: /no matches for Id ([^;\s]+)|unable to find patch target "([^"]+)"/,
    says: ([, id, name]) => [
      `a patch or replacement targets ${id ?? name}, which does not exist`,
      'correct its target, or add that object',
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /MalformedYAMLError: (?:yaml: )?(line \d+)?.* in File: (\S+?)'?(?:[:\s]|$)/s,
    says: ([, line, file]) => [`${file} is not valid YAML${line === undefined ? '' : ` at ${line}`}`, 'correct it'],
  },
  {
    reason: 'BuildFailed',
    matches: /^error converting YAML to JSON: (?:yaml: )?(line \d+)?/,
    says: ([, line], { path }) => [
      `the kustomization.yaml in ${path} is not valid YAML${line === undefined ? '' : ` at ${line}`}`,
      'correct it',
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /accumulating components: .{0,500}evalsymlink failure on '(?:\/\S*?\/kustomization-\d+\/)?([^']+)'/s,
    says: ([, folder], { places }) => [
      `component ${folder} does not exist in the source`,
      `add it, or correct components in ${places.template} or in kustomization.yaml`,
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /unable to parse SM or JSON patch/,
    says: (_, { places }) => [
      'a patch cannot be parsed',
      `correct it, in patches of ${places.template} or in kustomization.yaml`,
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /accumulating resources from '(?![^']*': read )([^']+)': (?:open \S+: )?(?:no such file|evalsymlink|Get )/,
    says: ([, name]) => [
      `kustomization.yaml refers to ${name}, which cannot be read`,
      'add it to the repository, or remove it from kustomization.yaml',
    ],
  },
  {
    reason: 'BuildFailed',
    matches:
      /(?:failed to decode Kubernetes YAML from|while parsing YAML file) (?:\/\S*?\/kustomization-\d+\/)?([^\s:]+)|got file '([^']+)', but/,
    says: ([, file, other]) => [
      `${file ?? other} does not contain Kubernetes objects in YAML`,
      'correct it, or exclude it with .sourceignore or a kustomization.yaml',
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /failed to decode Kubernetes apiVersion, kind and name/,
    says: () => [
      'a manifest has no apiVersion, kind or name',
      'correct it, or exclude it with .sourceignore or a kustomization.yaml',
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /component path '([^']+)' must be local and relative/,
    says: ([, folder], { places }) => [
      `component ${folder} is not below the path of the Kustomization`,
      `move it there, or correct components in ${places.template}`,
    ],
  },
  {
    reason: 'BuildFailed',
    matches: /kustomize build failed/,
    says: (_, { path }) => [
      `kustomize cannot build ${path}`,
      `run "kustomize build ${path}" in the repository to reproduce the error, and correct it`,
    ],
  },
];
