import { expect, test } from 'vitest';
import { gitHost } from './git-hosts.ts';

test.each<[url: string, name?: string, keyType?: string | undefined]>([
  ['ssh://git@ssh.dev.azure.com/v3/org/project/fleet', 'Azure DevOps', 'rsa'],
  ['ssh://git@ssh.dev.azure.com:22/v3/org/project/$%7BSHOOT_NAME%7D', 'Azure DevOps', 'rsa'],
  ['ssh://git@SSH.Dev.Azure.Com/v3/org/project/fleet', 'Azure DevOps', 'rsa'],
  ['ssh://git@ssh.dev.azure.com./v3/org/project/fleet', 'Azure DevOps', 'rsa'],
  ['ssh://org@vs-ssh.visualstudio.com/v3/org/project/fleet', 'Azure DevOps', 'rsa'],
  ['ssh://org@org.visualstudio.com:22/project/_ssh/fleet', 'Azure DevOps', 'rsa'],
  ['ssh://org@org.vs-ssh.visualstudio.com/project/_ssh/fleet', 'Azure DevOps', 'rsa'],
  ['ssh://APKA@git-codecommit.eu-central-1.amazonaws.com/v1/repos/fleet', 'AWS CodeCommit', 'rsa'],
  ['ssh://git-codecommit.cn-north-1.amazonaws.com.cn/v1/repos/fleet', 'AWS CodeCommit', 'rsa'],
  ['ssh://git-codecommit-fips.us-east-1.amazonaws.com/v1/repos/fleet', 'AWS CodeCommit', 'rsa'],
  ['ssh://vpce-1.git-codecommit.us-east-1.vpce.amazonaws.com/v1/repos/fleet', 'AWS CodeCommit', 'rsa'],
  ['ssh://u@t@devops.scmservice.eu-frankfurt-1.oci.oraclecloud.com/a/b', 'Oracle Cloud', 'rsa'],
  ['ssh://u@source.developers.google.com:2022/p/project/r/fleet', 'Google Cloud', undefined],
  ['ssh://git@bitbucket.org/org/fleet', 'Bitbucket', undefined],
  ['ssh://git@altssh.bitbucket.org:443/org/fleet', 'Bitbucket', undefined],
  ['ssh://git@git.sr.ht/~me/fleet', 'sourcehut', undefined],
  ...[
    ...['ssh://git@github.com/org/fleet', 'ssh://git@ssh.github.com:443/org/fleet'],
    ...['ssh://git@gitlab.com/org/fleet', 'ssh://git@altssh.gitlab.com:443/org/fleet'],
    ...['ssh://git@codeberg.org/org/fleet', 'ssh://git@gitea.example.com:2222/org/fleet'],
    ...['ssh://git@ssh.dev.azure.com.example.com/a', 'ssh://git@git-codecommit.example.com/a', 'no URL'],
  ].map((url): [string] => [url]),
])('%s is %s and takes %s', (url, name, keyType) => {
  const host = gitHost(url);
  expect({ name: host.name, keyType: host.keyType }).toEqual({ name, keyType });
});

test.each([
  ['ssh://git@ssh.dev.azure.com/v3/a', 'in Azure DevOps under User settings, SSH public keys'],
  ['ssh://git@bitbucket.org/a/b', 'to the repository as an access key'],
  ['ssh://git@github.com/a/b', 'to the repository as a deploy key'],
  [
    'ssh://git-codecommit.us-east-1.amazonaws.com/v1/repos/a',
    'in AWS IAM to the SSH keys for AWS CodeCommit of a user (its SSH key ID there is the user name in repositoryUrl)',
  ],
])('%s keeps keys %s', (url, place) => {
  expect(gitHost(url).at('the repository', 'repositoryUrl')).toBe(place);
});
