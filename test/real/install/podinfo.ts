import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect } from 'vitest';
import type { FollowedPage } from '../../integration/followed-page.ts';
import { creating, PROJECT, type Stage } from '../../scenarios/stage.ts';

const SECTION = 'podinfo in a Shoot';

/**
 * Brings podinfo into the Shoot of a stage as a page says: its ConfigMap is applied, and the Shoot gets the extension. The
 * product runs already.
 * @param workplace has the kubeconfigs `garden` and `my-shoot`
 * @param shell runs the page's commands there
 */
export async function bringPodinfo(
  page: FollowedPage,
  stage: Stage,
  workplace: { folder: string },
  shell: (text: string) => Promise<string>,
): Promise<void> {
  const config = page.yaml(SECTION, 1).replaceAll('garden-my-project', PROJECT);
  await writeFile(join(workplace.folder, 'flux-config.yaml'), config);
  await page.block(SECTION, 1).run(shell);
  await stage.reconcileShoot({ status: { lastOperation: creating } });
  await stage.untilReady();
  await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
  const rows = await page.block(SECTION, 2).run(shell);
  expect(rows).toMatch(/main-gitrepo .*True/);
  expect(rows).toMatch(/main-ks .*True/);
  const source = await stage.specInShoot(gitRepositories, 'main-gitrepo');
  expect(source).toMatchObject({ url: 'https://github.com/stefanprodan/podinfo', ref: { branch: 'master' } });
  const kustomization = await stage.specInShoot(kustomizations, 'main-ks');
  expect(kustomization).toMatchObject({ path: './kustomize' });
}
