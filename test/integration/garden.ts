import { gardenCrds } from '@shoot-flux/landscape/crds';
import { type KubeApi, type KubeApiOptions, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { restrictions } from '@shoot-flux/landscape/restrictions';
import { rbacObjects, serviceAccountUser } from '../../infra/gardener/rbac.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Context, Handler } from '../../shared/runtime/context.ts';
import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import type { ReconcileKey } from '../../shared/runtime/key.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { patientClient } from '../patient-client.ts';
import { contextOf, settingsOf } from '../scenarios/context.ts';
import { secretWith } from '../shoot-secrets.ts';

/** A garden in which one function runs with only its shipped rights. */
export interface Garden extends AsyncDisposable {
  api: KubeApi;
  /**
   * Runs the function once for `flux-config`, or for another object of the project, over TLS. Every run has its own
   * client, as on AWS.
   */
  run(overrides?: Partial<Context>, name?: string): ReturnType<Handler>;
  /** The settings of each run that overrides none. */
  settings: Context['settings'];
  /** Lines of the log. */
  log: string[];
  sent: ChangeRequest[];
  /** Writing requests since the last `api.requests.length = 0`. */
  writes(): string[];
}

const namespace = 'garden-foo';
const key: ReconcileKey = { cluster: 'garden', namespace, name: 'flux-config' };

export async function startGarden(
  definition: FunctionDefinition,
  handler: Handler,
  options: KubeApiOptions = {},
): Promise<Garden> {
  const token = `${definition.name}-token`;
  const tokens = { [token]: { name: serviceAccountUser(definition.name) } };
  const api = await startKubeApi({ tokens, authorization: 'RBAC', webhooks: restrictions, ...options });
  for (const object of [...gardenCrds(), ...rbacObjects([definition], 'garden')]) api.objects.create(object);
  api.objects.ensureNamespace(namespace);
  // The Git servers of the tests listen there.
  const hostKeyScan: Context['settings']['hostKeyScan'] = { mode: 'on', allow: ['127.0.0.0/8'], deny: [] };
  const settings = settingsOf({ landscape: 'canary', fluxDistribution: '', hostKeyScan });
  const log: string[] = [];
  const sent: ChangeRequest[] = [];
  return {
    api,
    settings,
    log,
    sent,
    writes: () => api.requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`),
    async run(overrides = {}, name = key.name) {
      const client = patientClient({ server: api.url, ca: api.ca, token });
      const context = contextOf({
        kube: async () => client,
        settings,
        send: async (changes) => void sent.push(...changes),
        causes: [{ type: 'redrive', nonce: 'test' }],
        now: () => new Date('2026-01-02T03:04:05.678Z'),
        log: createLog('debug', (line) => log.push(line)),
        ...overrides,
      });
      try {
        return await handler({ ...key, name }, context);
      } finally {
        client.close();
      }
    },
    [Symbol.asyncDispose]: () => api.stop(),
  };
}

/** Writes the project's configuration. */
export function fluxConfig(data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'flux-config' }, data };
}

/** Reads the Secret beside it, with its values as text. */
export const fluxSource = (values: Record<string, string> = {}): KubeObject => ({
  ...secretWith(namespace, 'flux-source', values),
  type: 'Opaque',
});
