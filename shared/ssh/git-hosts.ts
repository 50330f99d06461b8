/** What a Git host expects of the keys of its users. */
export interface GitHost {
  /** What people call it; absent: a host that is not in the table. */
  name?: string;
  /** The only type of key that it takes; absent: all that Flux reads. */
  keyType?: 'rsa';
  /**
   * Returns where it keeps public keys: `Add this public key …`.
   * @param repository what the key shall read
   * @param url the field of the configuration with its URL
   */
  at(repository: string, url: string): string;
}

/** GitHub, GitLab, Gitea and Forgejo: https://docs.github.com/authentication/connecting-to-github-with-ssh/managing-deploy-keys */
const others: GitHost = { at: (repository) => `to ${repository} as a deploy key` };

/** Hosts that differ, by their names in lower case, with all other names of the same servers. */
const hosts: [name: RegExp, host: GitHost][] = [
  [
    // https://learn.microsoft.com/azure/devops/repos/git/use-ssh-keys-to-authenticate
    /^(?:(?:ssh\.)?dev\.azure\.com|(?:[^.]+\.)*visualstudio\.com)$/,
    { name: 'Azure DevOps', keyType: 'rsa', at: () => 'in Azure DevOps under User settings, SSH public keys' },
  ],
  [
    // https://docs.aws.amazon.com/IAM/latest/APIReference/API_UploadSSHPublicKey.html
    // https://docs.aws.amazon.com/codecommit/latest/userguide/setting-up-ssh-unixes.html
    /(?:^|\.)git-codecommit(?:-fips)?\.[^.]+\.(?:vpce\.)?amazonaws\.com(?:\.cn)?$/,
    {
      ...{ name: 'AWS CodeCommit', keyType: 'rsa' },
      at: (_, url) =>
        `in AWS IAM to the SSH keys for AWS CodeCommit of a user (its SSH key ID there is the user name in ${url})`,
    },
  ],
  [
    // https://docs.oracle.com/en-us/iaas/Content/devops/using/ssh_auth.htm
    /^devops\.scmservice\.[^.]+\.oci\.oraclecloud\.com$/,
    {
      ...{ name: 'Oracle Cloud', keyType: 'rsa' },
      at: () => 'in Oracle Cloud to the API keys of a user (converted with ssh-keygen -e -m pkcs8)',
    },
  ],
  [
    // https://cloud.google.com/source-repositories/docs/authentication#ssh
    /^source\.developers\.google\.com$/,
    { name: 'Google Cloud', at: () => 'in Google Cloud Source Repositories under Manage SSH keys' },
  ],
  // https://support.atlassian.com/bitbucket-cloud/docs/configure-repository-access-keys/
  [/^(?:altssh\.)?bitbucket\.org$/, { name: 'Bitbucket', at: (repository) => `to ${repository} as an access key` }],
  // https://man.sr.ht/meta.sr.ht/
  [/^(?:git\.)?sr\.ht$/, { name: 'sourcehut', at: () => 'in sourcehut under the SSH keys of an account' }],
];

/** Returns what is known of the host of a repository. */
export function gitHost(url: string): GitHost {
  const name = URL.canParse(url) ? new URL(url).hostname.toLowerCase().replace(/\.$/, '') : '';
  return hosts.find(([pattern]) => pattern.test(name))?.[1] ?? others;
}
