import type { Connection } from '../../../shared/kube/connection.ts';
import { type KubeApi, startKubeApi } from '../kube-api/kube-api.ts';
import { seedCrds } from '../seed/crds.ts';
import { describeTraces } from './traces.ts';

const connectionTo = ({ url, ca, token }: KubeApi): Connection => ({ server: url, ca, token });

describeTraces('the stand-in does what the real resource-manager did', async () => {
  const [source, target] = await Promise.all([startKubeApi({ objects: seedCrds() }), startKubeApi()]);
  return {
    source: connectionTo(source),
    target: connectionTo(target),
    async stop() {
      await Promise.all([source.stop(), target.stop()]);
    },
  };
});
