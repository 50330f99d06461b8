import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironment } from './settings.ts';

async function withConfig<T>(content: string, use: (file: string) => Promise<T>): Promise<T> {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'lambda-'));
  const file = join(dir.path, 'landscape.json');
  await writeFile(file, content);
  return await use(file);
}

const settingsWith = async (CONFIG: string) =>
  (await readEnvironment({ KUBECONFIG_SECRET_PREFIX: 'x', CONFIG })).settings;

test('a Lambda has defaults and policy from the file that CONFIG names', async () => {
  const landscape = { defaults: { flux: { version: '2.9.x' } }, policy: { allowedVersions: ['2.9.x'] } };
  expect(await withConfig(JSON.stringify(landscape), settingsWith)).toMatchObject(landscape);
  expect(await settingsWith('')).not.toHaveProperty('policy');
});

test.each([
  ['[]', 'is not a JSON object; correct the file of CONFIG.'],
  ['policy: {}', 'which CONFIG names: it is not JSON.'],
  ['{"polcy": {}}', 'has the key "polcy"; on Lambda it may hold defaults and policy.'],
  ['{"policy": {"allowedVersions": []}}', "the landscape's policy: allowedVersions is empty"],
])('does not start with %s', async (content, sentence) => {
  await withConfig(content, (file) => expect(settingsWith(file)).rejects.toThrow(sentence));
});

test('does not start without the file', async () => {
  await expect(settingsWith('/nowhere.json')).rejects.toThrow(
    'cannot read /nowhere.json, which CONFIG names: file not found.',
  );
});
