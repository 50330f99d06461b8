import { conformanceSuite } from '@shoot-flux/landscape/conformance';
import { startApiServer } from './cluster/api-server.ts';
import { startEtcd } from './cluster/etcd.ts';

conformanceSuite('kube-apiserver', async () => {
  const etcd = await startEtcd();
  const limited = { token: 'limited', user: 'limited', uid: 'limited' };
  const server = await startApiServer({ etcd, prefix: 'conformance', tokens: [limited] });
  return {
    url: server.url,
    ca: server.ca,
    token: server.adminToken,
    limitedToken: limited.token,
    async stop() {
      await server.stop();
      await etcd.stop();
    },
  };
});
