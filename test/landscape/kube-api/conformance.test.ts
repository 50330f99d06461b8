import { conformanceSuite } from '../conformance/suite.ts';
import { startKubeApi } from './kube-api.ts';

conformanceSuite('the embedded Kubernetes API', async () => {
  const limitedToken = 'limited';
  const api = await startKubeApi({ authorization: 'RBAC', tokens: { [limitedToken]: { name: 'limited' } } });
  return { ...api, limitedToken };
});
