import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NAMESPACE } from '../../../../infra/webhooks/names.ts';
import { root } from '../../../integration/documents.ts';
import { tokenOf } from '../../../scenarios/identities.ts';
import { SEED } from '../../../scenarios/stage.ts';
import type { RealApis } from '../../apis.ts';
import { programFolder, type RunningProgram, startProgram } from '../../cluster/process.ts';
import { requestJson } from '../../cluster/request.ts';
import { watcherOfPage } from './page.ts';

/**
 * Starts the page's command for the watcher as in a Pod of the seed: with the page's environment, and with the token of
 * its ServiceAccount that a kubelet would project. In garden and seed it has the rights of the watcher.
 */
export async function startWatcher(apis: RealApis, command: string, endpoint: string): Promise<RunningProgram> {
  const { garden, seed } = apis.servers;
  const { environment, tokenPath, audience } = watcherOfPage();
  const folder = await programFolder('watch');
  const review = { spec: { audiences: [audience], expirationSeconds: 600 } };
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/shoot-flux-watcher/token`;
  const answer = (await requestJson(seed, 'POST', path, review)) as { status: { token: string } };
  const projected = join(folder, 'token');
  await writeFile(projected, answer.status.token);
  await writeFile(join(folder, 'garden.kubeconfig'), garden.kubeconfig(tokenOf('watcher')));
  await writeFile(join(folder, `${SEED}.kubeconfig`), seed.kubeconfig(tokenOf('watcher')));
  const mounted = Object.entries(environment).map(([name, value]) => [name, value === tokenPath ? projected : value]);
  const [, args = ''] = /^npm run shoot-flux -- (.*)$/m.exec(command) ?? [];
  return startProgram({
    name: 'watch',
    command: process.execPath,
    args: [join(root, 'infra/cli/main.ts'), ...args.split(' ')],
    // The only difference from AWS: where its services are.
    env: { ...Object.fromEntries(mounted), AWS_ENDPOINT_URL: endpoint },
    folder,
  });
}
