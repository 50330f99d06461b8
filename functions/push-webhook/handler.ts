import { isPushOn } from '../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG, FLUX_PUSH, PUSHED } from '../../shared/config/project-config.ts';
import { pushAnnotation, pushRequestOf, tokenIn, withPush } from '../../shared/config/push.ts';
import { ConflictError, unless } from '../../shared/kube/errors.ts';
import { resources } from '../../shared/kube/resource.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { PushHandler } from '../../shared/runtime/webhook.ts';
import { hasCredentials, isAuthentic, repositoriesIn } from './call.ts';

/** How often the Secret is read again that several calls change at the same time. */
const ATTEMPTS = 5;

/** Notes a push on the Secret of the project, where every process sees it that serves Shoots of the project. */
export const handler: PushHandler = async (call, { kube, now, log }) => {
  if (!hasCredentials(call)) return 'refused';
  const { namespace } = call;
  const garden = await kube(GARDEN);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const [configMap, secret] = await Promise.all([
      garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG }),
      garden.find(resources.secrets, { namespace, name: FLUX_PUSH }),
    ]);
    const token = isPushOn(configMap) ? tokenIn(secret) : '';
    if (!isAuthentic(token, call) || secret === undefined) return 'refused';
    const { annotations, uid, resourceVersion } = secret.metadata;
    const time = now().getTime();
    const request = withPush(pushRequestOf(annotations?.[PUSHED], time), repositoriesIn(call), time);
    if (request === undefined) return 'accepted';
    const patch = { metadata: { uid, resourceVersion, annotations: { [PUSHED]: pushAnnotation(request) } } };
    const options = { fieldManager: 'shoot-flux-push-webhook' };
    const isNoted = await unless(garden.mergePatch(resources.secrets, secret.metadata, patch, options), ConflictError);
    if (isNoted === undefined) continue;
    log.info('push noted', { namespace });
    return 'accepted';
  }
  return 'failed';
};
