import { startCluster } from '../cluster.ts';
import { seedCrds } from '../seed/crds.ts';
import { describeTraces } from './traces.ts';

describeTraces('the stand-in does what the real resource-manager did', async () => {
  const [source, target] = await Promise.all([startCluster(seedCrds()), startCluster()]);
  return {
    source: source.connection,
    target: target.connection,
    async stop() {
      await Promise.all([source.stop(), target.stop()]);
    },
  };
});
