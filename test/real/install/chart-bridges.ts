import { startTestSink } from '../../../events/cloudevents/testing.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { startHeaderProxy } from '../../header-proxy.ts';
import { SEED } from '../../scenarios/stage.ts';
import { createQueues, startEmulator } from '../../sqs.ts';
import { startSts } from '../../sts.ts';
import { INSTALLATION } from './gardenlet-values.ts';

/** What a chart needs to run only the watcher. */
export interface ChartBridge extends AsyncDisposable {
  values: Record<string, unknown>;
  /** Objects that the operator creates. */
  objects: KubeObject[];
  /** In place of ports that may be taken. */
  flags?: string[];
  /** The first line of the process. */
  line: string;
  /** Returns what has arrived as a proof of the Pod. */
  arrived(): unknown;
  proof: object;
}

/** The operators decide about registry and release. */
const common = {
  defaults: { flux: { registry: 'registry.example.com/fluxcd', version: '2.9.x' }, pullSecret: {} },
  policy: { allowedRegistries: ['registry.example.com/**'], allowedVersions: ['2.9.x'] },
  config: { shootHealth: true },
};
const prefix = 'shoot-flux-prod-';

/** The modes in which the functions run elsewhere, each with stand-ins for what the Pod talks to. */
export const bridges: Record<string, () => Promise<ChartBridge>> = {
  async 'bridge-sqs with a role'() {
    const queues = await startQueues();
    const sts = await startSts();
    const role = { region: 'us-east-1', roleArn: 'arn:aws:iam::123456789012:role/watcher' };
    return {
      ...queues,
      values: {
        ...queues.values,
        sqs: { ...queues.values.sqs, ...role },
        env: [{ name: 'AWS_ENDPOINT_URL_STS', value: sts.url }],
      },
      objects: [],
      arrived: () => ({ ...claimsOf(sts.tokens[0] ?? ''), signedBy: queues.signedBy() }),
      proof: {
        aud: ['sts.amazonaws.com'],
        sub: `system:serviceaccount:${INSTALLATION}:shoot-flux`,
        signedBy: ['ASIAOFTHEROLE'],
      },
      async [Symbol.asyncDispose]() {
        await sts.stop();
        await queues.stop();
      },
    };
  },

  async 'bridge-sqs with a Secret'() {
    const queues = await startQueues();
    const data = { AWS_ACCESS_KEY_ID: 'AKIAOFTHESECRET', AWS_SECRET_ACCESS_KEY: 'secret' };
    const metadata = { namespace: INSTALLATION, name: 'aws' };
    return {
      ...queues,
      values: { ...queues.values, sqs: { ...queues.values.sqs, region: 'us-east-1', credentialsSecretName: 'aws' } },
      objects: [{ apiVersion: 'v1', kind: 'Secret', metadata, stringData: data }],
      arrived: () => ({ signedBy: queues.signedBy() }),
      proof: { signedBy: [data.AWS_ACCESS_KEY_ID] },
      [Symbol.asyncDispose]: queues.stop,
    };
  },

  async 'bridge-knative'() {
    const sink = await startTestSink();
    return {
      values: { ...common, mode: 'bridge-knative', knative: { sink: sink.url } },
      objects: [],
      line: `shoot-flux watches the garden, ${SEED} and sends to the sink ${new URL(sink.url).host}, and takes what waits`,
      flags: ['--events-port', '0'],
      arrived: () => sink.events[0]?.attributes,
      proof: { source: '/shoot-flux/clusters/garden' },
      [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose](),
    };
  },
};

/** SQS with the queues that the functions' deployment creates. */
async function startQueues() {
  const emulator = await startEmulator();
  await (await createQueues(emulator.endpoint, await findDefinitions(), { prefix, seeds: [SEED] })).stop();
  const keys = new Set<string>();
  const proxy = await startHeaderProxy(emulator.endpoint, ({ authorization = '' }) =>
    keys.add(/Credential=([^/]+)/.exec(authorization)?.[1] ?? ''),
  );
  return {
    values: { ...common, mode: 'bridge-sqs', sqs: { queuePrefix: prefix, endpoint: proxy.url } },
    line: `shoot-flux watches the garden, ${SEED} and sends to the queues ${prefix}*`,
    /** Returns the ids of the keys that have signed requests. */
    signedBy: () => [...keys],
    async stop() {
      await proxy.stop();
      await emulator.stop();
    },
  };
}

/** Returns the claims of a token, without verifying it. */
function claimsOf(token: string): object | undefined {
  const [, claims = ''] = token.split('.');
  return claims === '' ? undefined : JSON.parse(Buffer.from(claims, 'base64url').toString());
}
