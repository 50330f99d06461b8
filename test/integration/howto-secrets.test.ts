import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documented, example, root } from './documents.ts';

const [SOPS, OCI, GITHUB] = ['docs/howto/sops.md', 'docs/howto/oci.md', 'docs/howto/github-app.md'] as const;
const validate = documented(
  'docs/howto/sops.md',
  'npm run --silent shoot-flux -- validate --flux-distribution ./distribution --flux-config flux-config.yaml --secrets secrets.yaml',
);
const render = documented(
  'docs/howto/oci.md',
  'npm run --silent shoot-flux -- render --flux-distribution ./distribution --flux-config flux-config.yaml --secrets secrets.yaml',
);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'howto-secrets-'));
  const standIn = join(standInDistribution.folder, standInDistribution.version);
  await cp(standIn, join(folder, 'distribution/v2.9.4'), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

/** npm starts this program in the folder of the checkout; here it starts beside the files. */
function run(command: string): { code: number | null; out: string } {
  const line = command.replace('npm run --silent shoot-flux --', `node ${join(root, 'infra/cli/shoot-flux.js')}`);
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: folder, encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

const write = async (page: string, change: (secrets: string) => string = (secrets) => secrets) => {
  await writeFile(join(folder, 'flux-config.yaml'), example(page, 'ConfigMap'));
  await writeFile(join(folder, 'secrets.yaml'), change(example(page, 'Secret')));
};

test.each([SOPS, OCI, GITHUB])('%s: its manifests are complete', async (page) => {
  await write(page);
  expect(run(validate)).toEqual({ code: 0, out: '' });
});

test.each([
  [SOPS, 'AGE-SECRET-KEY-', 'age1', 'has no line AGE-SECRET-KEY-… in "project.agekey"'],
  [OCI, 'kubernetes.io/dockerconfigjson', 'Opaque', 'flux-registry'],
  [GITHUB, '"12345678"', '"org"', 'githubAppInstallationID is not a number'],
])('%s: the check finds a mistake, and prints nothing of the Secret', async (page, right, wrong, sentence) => {
  await write(page, (secrets) => secrets.replace(right, wrong));
  const { code, out } = run(validate);
  expect(code).toBe(1);
  expect(out).toContain(sentence);
  expect(out).not.toMatch(/replace.this/i);
});

test('the credentials of the registry wire themselves, as the page says', async () => {
  await write(OCI);
  const { code, out } = run(render);
  expect(code).toBe(0);
  expect(out).toMatch(/kind: OCIRepository\n(?:.*\n)*? {2}secretRef:\n {4}name: flux-registry\n/);
  expect(out).toMatch(/imagePullSecrets:\n *- name: flux-registry\n/);
  expect(out).not.toContain('replace-this');
});
