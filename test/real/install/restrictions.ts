import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { restrictions } from '@shoot-flux/landscape/restrictions';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import type { ApiServer } from '../cluster/api-server.ts';
import { listen } from '../cluster/ports.ts';
import { applyObjects } from './objects.ts';

interface Review {
  apiVersion: string;
  kind: string;
  request: {
    uid: string;
    operation: string;
    namespace?: string;
    resource: { group: string; resource: string };
    userInfo: { username: string };
  };
}

/** Serves the webhooks SeedRestriction and ShootRestriction of Gardener for a garden, as far as they concern us. */
export async function startRestrictions(garden: ApiServer): Promise<AsyncDisposable> {
  const { cert, key } = loopbackCertificate();
  const server = createServer({ cert, key }, async (request, response) => {
    const { request: asked, ...review } = (await json(request)) as Review;
    const { group, resource: plural } = asked.resource;
    const webhook = restrictions.find(({ name }) => request.url?.startsWith(`/${name}?`));
    const message = webhook?.deny({ user: asked.userInfo.username, group, plural, namespace: asked.namespace ?? '' });
    const answer = message === undefined ? { allowed: true } : { allowed: false, status: { code: 403, message } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...review, response: { uid: asked.uid, ...answer } }));
  });
  const listening = await listen(server);
  const caBundle = Buffer.from(cert).toString('base64');
  const webhooks = restrictions.map(({ name }) => ({
    name,
    clientConfig: { url: `https://${listening.host}/${name}`, caBundle },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets', 'configmaps'] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 10,
  }));
  const configuration: KubeObject = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'gardener-admission-controller' },
    webhooks,
  };
  await applyObjects(garden, [configuration]);
  return listening;
}
