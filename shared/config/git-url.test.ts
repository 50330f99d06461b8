import { expect, test } from 'vitest';
import { gitUrl } from './checks.ts';

const GITHUB = 'https://github.com/org/fleet';
const fields = (rest: string) => `, and write ${rest} into the fields for revision and path`;

/** What was written -> the URL that is meant, and what the sentence says besides. */
test.each<[string, string, string?]>([
  [`${GITHUB}/tree/main/clusters/prod`, GITHUB, fields('main/clusters/prod')],
  [`${GITHUB}/blob/main/kustomization.yaml`, GITHUB, fields('main/kustomization.yaml')],
  [`${GITHUB}/pull/7`, GITHUB],
  [`${GITHUB}/settings/keys`, GITHUB],
  ['https://github.example.com/org/fleet/tree/main', 'https://github.example.com/org/fleet', fields('main')],
  ['https://gitlab.com/a/b/fleet/-/tree/main/x', 'https://gitlab.com/a/b/fleet', fields('main/x')],
  ['https://git.example.com/a/fleet/-/merge_requests/1', 'https://git.example.com/a/fleet'],
  ['https://codeberg.org/org/fleet/src/branch/main/x', 'https://codeberg.org/org/fleet', fields('main/x')],
  ['https://git.example.com/org/fleet/src/tag/v1', 'https://git.example.com/org/fleet', fields('v1')],
  ['https://bitbucket.org/org/fleet/src/main/x', 'https://bitbucket.org/org/fleet', fields('main/x')],
  [
    'https://dev.azure.com/org/p/_git/fleet?path=/x&version=GBmain',
    'https://dev.azure.com/org/p/_git/fleet',
    fields('path=/x&version=GBmain'),
  ],
  ['https://dev.azure.com/org/p/_git/fleet/pullrequest/7', 'https://dev.azure.com/org/p/_git/fleet'],
  [`${GITHUB}.git?ref=main`, `${GITHUB}.git`, fields('ref=main')],
  ['git@github.com:org/fleet.git?ref=main', 'ssh://git@github.com/org/fleet.git', fields('ref=main')],
  ['git@github.com:org/fleet/tree/main/x', 'ssh://git@github.com/org/fleet', fields('main/x')],
  [`${GITHUB}#readme`, GITHUB],
  [`${GITHUB}/tree/main/x?tab=readme`, GITHUB, fields('main/x')],
  ['https://gitlab.com/a/b/-/blob/main/x.yaml?ref_type=heads', 'https://gitlab.com/a/b', fields('main/x.yaml')],
  ['ssh://git@gitlab.com/a/b/-/tree/main', 'ssh://git@gitlab.com/a/b', fields('main')],
  [
    'https://bitbucket.example.com/projects/KEY/repos/fleet/browse?at=main',
    'https://bitbucket.example.com/scm/KEY/fleet.git',
    fields('at=main'),
  ],
  ['https://raw.githubusercontent.com/org/fleet/main/x.yaml', GITHUB, fields('main/x.yaml')],
  ['https://api.github.com/repos/org/fleet', GITHUB],
  [`${GITHUB}@v1`, GITHUB, fields('v1')],
  [`${GITHUB}.git@main`, `${GITHUB}.git`, fields('main')],
  [`“${GITHUB}”`, GITHUB],
  ['git@github.com/org/fleet', 'ssh://git@github.com/org/fleet'],
  ['https//github.com/org/fleet', GITHUB],
  ['https;//github.com/org/fleet', GITHUB],
  [`${GITHUB} `, GITHUB],
  [`git clone ${GITHUB}.git`, `${GITHUB}.git`],
  [`git clone -b main ${GITHUB} fleet`, GITHUB],
  ['git clone git@github.com:org/fleet.git', 'ssh://git@github.com/org/fleet.git'],
  [`"${GITHUB}"`, GITHUB],
  [`<${GITHUB}>`, GITHUB],
  [`git::${GITHUB}.git//modules/x?ref=v1`, `${GITHUB}.git`, fields('modules/x and ref=v1')],
  [`git::${GITHUB}`, GITHUB],
  [`${GITHUB}//clusters?ref=main`, GITHUB, fields('clusters and ref=main')],
  [`${GITHUB}.git//clusters`, `${GITHUB}.git`, fields('clusters')],
  ['git+ssh://git@github.com/org/fleet', 'ssh://git@github.com/org/fleet'],
  ['git+https://github.com/org/fleet', GITHUB],
  ['git://github.com/org/fleet', GITHUB],
  ['github.com/org/fleet', GITHUB],
  ['www.github.com/org/fleet', 'https://www.github.com/org/fleet'],
  ['git.example.com:8443/org/fleet', 'https://git.example.com:8443/org/fleet'],
  ['github.com:org/fleet.git', 'ssh://git@github.com/org/fleet.git'],
  ['ssh://git@github.com:org/fleet', 'ssh://git@github.com/org/fleet'],
  ['ssh://git@github.com:4org/fleet', 'ssh://git@github.com/4org/fleet'],
  ['https://github.com:org/fleet', GITHUB],
  ['HTTPS://github.com/org/fleet', GITHUB],
  ['https:/github.com/org/fleet', GITHUB],
  ['https:///github.com/org/fleet', GITHUB],
])('%s means %s', (text, meant, more = '') => {
  const sentence = ` is not the URL of a Git repository; use ${meant}${more}`;
  expect(gitUrl(text)?.slice(-sentence.length)).toBe(sentence);
  expect(gitUrl(meant)).toBeUndefined();
});

test.each([
  GITHUB,
  `${GITHUB}.git`,
  `${GITHUB}/`,
  `${GITHUB}//`,
  `${GITHUB}.wiki.git`,
  'https://git.example.com/team/tree/main',
  'https://git.example.com/a/b/c/d/fleet.git',
  'https://git.example.com/src/branch/fleet.git',
  'https://git.example.com/cgit/a//fleet',
  'http://git.example.com:8080/fleet',
  'ssh://git@git.example.com:2222/org/fleet',
  'ssh://git@[fd00::1]:2222/org/fleet',
  'ssh://git@github.com/org/fleet',
  'ssh://github.com/org/fleet',
  'ssh://git@ssh.dev.azure.com/v3/org/project/fleet',
  'ssh://git@ssh.dev.azure.com:22/v3/org/project/fleet',
  'ssh://APKA1@git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet',
  'https://dev.azure.com/org/My%20Project/_git/fleet',
  'https://source.developers.google.com/p/project/r/fleet',
  'https://bitbucket.example.com/scm/key/fleet.git',
])('%s stays right', (text) => {
  expect(gitUrl(text)).toBeUndefined();
});

test('the sentence quotes what was written', () => {
  expect(gitUrl(`${GITHUB}.git?ref=main`)).toBe(
    `"${GITHUB}.git?ref=main" is not the URL of a Git repository; use ${GITHUB}.git${fields('ref=main')}`,
  );
});

test('a space is written as %20', () => {
  expect(gitUrl('https://dev.azure.com/org/My Project/_git/fleet')).toBe(
    '"https://dev.azure.com/org/My Project/_git/fleet" contains a space; write %20 for it, as in https://dev.azure.com/org/My%20Project/_git/fleet',
  );
  expect(gitUrl('ssh://git@git.example.com:org/my fleet')).toContain('as in ssh://git@git.example.com/org/my%20fleet');
});

test('no sentence shows a credential', () => {
  for (const text of [
    'https://me:geheim@github.com/org/fleet/tree/main',
    'https://github.com/org/fleet?private_token=geheim',
    'git clone https://me:geheim@github.com/org/fleet',
    'ssh://git:geheim@github.com:org/fleet',
    'https://me:geheim@git.example.com/my fleet',
  ])
    expect(gitUrl(text)).not.toMatch(/geheim|^$/);
});

test('an organisation is no repository', () => {
  expect(gitUrl('https://github.com/org/')).toBe(
    '"https://github.com/org/" names no repository; use a form like https://github.com/org/repository',
  );
});

test('another kind of source has its own sentence', () => {
  expect(gitUrl('oci://ghcr.io/org/fleet')).toBe(
    '"oci://ghcr.io/org/fleet" is an OCI artifact; use a source of kind OCIRepository for it',
  );
});
