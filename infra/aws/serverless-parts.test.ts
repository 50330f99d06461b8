import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { documents } from '../../test/integration/documents.ts';
import { CHECKOUT, checkRoleNames, packagedLandscape, readParameters, serverlessParts } from './serverless.ts';

const read = (parameters: Record<string, string>) =>
  readParameters(async (variable) => parameters[/^param:(\w+)/.exec(variable)?.[1] ?? '']);

it('has no Lambda for Git hosts unless pushes are taken', async () => {
  const functions = async (pushUrl: string) => {
    const parameters: Record<string, string> = { pushUrl };
    const name = (variable: string) => /^param:(\w+)/.exec(variable)?.[1] ?? '';
    return Object.keys((await serverlessParts(async (variable) => parameters[name(variable)] ?? '')).functions);
  };
  expect(await functions('')).not.toContain('push-webhook');
  expect(await functions('https://flux.example.org')).toContain('push-webhook');
});

describe('the subject of watchers', () => {
  it('is the ServiceAccount of the manifests, or the given one', async () => {
    expect(await read({})).toMatchObject({ watcherSubject: 'system:serviceaccount:shoot-flux:shoot-flux-watcher' });
    for (const watcherSubject of [
      'system:serviceaccount:extension-shoot-flux-*:shoot-flux',
      'system:serviceaccount:shoot-flux:watcher-*',
    ])
      expect(await read({ watcherSubject })).toMatchObject({ watcherSubject });
  });

  it.each([
    ...['*', 'system:*', 'system:serviceaccount:*', 'system:serviceaccount:*:shoot-flux'],
    ...['system:serviceaccount:extension-shoot-flux-*:*', 'system:serviceaccount:shoot-flux:?*'],
    ...['system:serviceaccount:shoot-flux', 'system:node:shoot-flux:shoot-flux', 'shoot-flux:shoot-flux-watcher'],
  ])('is not %s', async (watcherSubject) => {
    await expect(read({ watcherSubject })).rejects.toThrow(
      `--param watcherSubject=${watcherSubject} must be system:serviceaccount:NAMESPACE:NAME; each of them may contain *, but not be only *.`,
    );
  });

  it('of the chart is on the page', async () => {
    const page = documents.find(({ path }) => path === 'docs/install-aws.md')?.text ?? '';
    const [watcherSubject = ''] = /system:serviceaccount:extension-[^`]+/.exec(page) ?? [];
    expect(await read({ watcherSubject })).toMatchObject({ watcherSubject });
    const pattern = new RegExp(`^${watcherSubject.replaceAll('*', '.*')}$`);
    expect('system:serviceaccount:extension-shoot-flux-x7k2p:shoot-flux').toMatch(pattern);
  });
});

it.each([
  [{ clusterAccess: 'irsa' }, '--param clusterAccess=irsa must be one of kubeconfig, web-identity.'],
  [{ watcherIssuers: 'http://a' }, '--param watcherIssuers=http://a must be https URLs with commas between.'],
])('%j is refused', async (parameters, sentence) => {
  await expect(read(parameters)).rejects.toThrow(sentence);
});

it('refuses a prefix with which the name of a role would be longer than IAM takes', () => {
  const functions = ['keys', 'resource-manager-webhook'];
  expect(() => checkRoleNames('shoot-flux-prod-eu-central-1-', functions)).not.toThrow();
  expect(() => checkRoleNames('shoot-flux-landscape-a-prod-eu-central-1-', functions)).toThrow(
    'The role shoot-flux-landscape-a-prod-eu-central-1-resource-manager-webhook would have 65 characters, and IAM takes 64; choose a shorter --param prefix or --stage.',
  );
});

it('deploys defaults and policy where there are some, so that no deployment forgets them', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'package-'));
  const url = pathToFileURL(`${folder.path}/`);
  expect(packagedLandscape(url)).toBe('');
  await mkdir(join(folder.path, 'dist'));
  await writeFile(join(folder.path, 'dist/landscape.json'), '{}');
  expect(packagedLandscape(url)).toBe('dist/landscape.json');
  expect(existsSync(new URL('serverless.yml', CHECKOUT))).toBe(true);
});
