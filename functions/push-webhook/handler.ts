import { isPushOn } from '../../shared/config/flux-config-map.ts';
import { FLUX_CONFIG, FLUX_PUSH, PUSHED } from '../../shared/config/project-config.ts';
import { pushAnnotation, pushRequestOf, withPush } from '../../shared/config/push.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ConflictError } from '../../shared/kube/errors.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { GARDEN } from '../../shared/runtime/key.ts';
import type { PushHandler } from '../../shared/runtime/webhook.ts';
import { hasCredentials, isAuthentic } from './authentic.ts';
import { repositoriesIn } from './payload.ts';

interface Secret extends KubeObject {
  /** Base64. */
  data?: Record<string, string>;
}

/** How often the Secret is read again that several Git hosts change at the same time. */
const ATTEMPTS = 5;

/**
 * Notes a push on the Secret of the project, where every process sees it that serves Shoots of the project.
 * @returns false unless the project exists, has switched it on, and the caller knows its token
 */
export const handler: PushHandler = async ({ namespace, headers, body }, { kube, now, log }) => {
  if (!hasCredentials(headers)) return false;
  const garden = await kube(GARDEN);
  for (let attempt = 1; ; attempt += 1) {
    const { secret, token } = await readToken(garden, namespace);
    if (!isAuthentic(token, headers, body) || secret === undefined) return false;
    const { annotations, uid, resourceVersion } = secret.metadata;
    const time = now().getTime();
    const request = withPush(pushRequestOf(annotations?.[PUSHED], time), repositoriesIn(headers, body), time);
    if (request === undefined) return true;
    const metadata = { uid, resourceVersion, annotations: { [PUSHED]: pushAnnotation(request) } };
    try {
      await garden.mergePatch(resources.secrets, secret.metadata, { metadata }, { fieldManager: 'shoot-flux-push' });
      log.info('push noted', { namespace });
      return true;
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === ATTEMPTS) throw error;
    }
  }
};

async function readToken(garden: KubeClient, namespace: string) {
  const [configMap, secret] = await Promise.all([
    garden.find(resources.configMaps, { namespace, name: FLUX_CONFIG }),
    garden.find<Secret>(resources.secrets, { namespace, name: FLUX_PUSH }),
  ]);
  const token = Buffer.from(secret?.data?.token ?? '', 'base64')
    .toString('utf8')
    .trim();
  return { secret, token: isPushOn(configMap) ? token : '' };
}
