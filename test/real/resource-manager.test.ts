import type { Connection } from '@shoot-flux/landscape/client';
import { describeTraces } from '@shoot-flux/landscape/resource-manager/traces';
import { type ApiServer, startApiServer } from './cluster/api-server.ts';
import { installCrds, seedCrds } from './cluster/crds.ts';
import { startEtcd } from './cluster/etcd.ts';

const connectionTo = ({ url, ca, adminToken }: ApiServer): Connection => ({ server: url, ca, token: adminToken });

describeTraces(
  'the stand-in does on real API servers what the real resource-manager did',
  async () => {
    const etcd = await startEtcd();
    const [source, target] = await Promise.all([
      startApiServer({ etcd, prefix: 'source' }),
      startApiServer({ etcd, prefix: 'target' }),
    ]);
    await installCrds(source, seedCrds() ?? []);
    return {
      source: connectionTo(source),
      target: connectionTo(target),
      async stop() {
        await Promise.all([source.stop(), target.stop()]);
        await etcd.stop();
      },
    };
  },
  'any',
);
