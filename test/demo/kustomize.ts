import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Controller } from '@shoot-flux/landscape/controllers';
import type { Connection } from '../../shared/kube/connection.ts';
import { startFluxController } from '../real/cluster/flux-controller.ts';
import { describeTool } from '../real/tools/tool.ts';

/** Returns the real kustomize-controller if the real suites have built it; the demo does not build it. */
export async function realKustomizeController() {
  const { binary, version } = await describeTool('kustomize-controller');
  if (!existsSync(binary)) return undefined;
  const start = async (_: Connection, kubeconfig: string): Promise<Controller> => {
    const folder = await mkdtemp(join(tmpdir(), 'kustomize-controller-'));
    const kubeconfigFile = join(folder, 'kubeconfig');
    await writeFile(kubeconfigFile, kubeconfig, { mode: 0o600 });
    const controller = await startFluxController('kustomize-controller', kubeconfigFile);
    return {
      async stop() {
        await controller.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  };
  return { version, start };
}
