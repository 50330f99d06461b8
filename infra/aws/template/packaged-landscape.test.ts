import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { packagedLandscape } from '../serverless.ts';

it('deploys defaults and policy where there are some, so that no deployment forgets them', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'package-'));
  const url = pathToFileURL(`${folder.path}/`);
  expect(packagedLandscape(url)).toBe('');
  await mkdir(join(folder.path, 'dist'));
  await writeFile(join(folder.path, 'dist/landscape.json'), '{}');
  expect(packagedLandscape(url)).toBe('dist/landscape.json');
});
