import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Certificates, caBundle, renewed } from '../webhooks/certificates.ts';
import { startWebhookServer } from '../webhooks/server.ts';
import { type Clusters, issueCertificate, useClusters } from './testing.ts';

let clusters: Clusters;
useClusters((started) => {
  clusters = started;
});
let ours: Certificates;
let server: Awaited<ReturnType<typeof startWebhookServer>>;
beforeAll(async () => {
  ours = await renewed(undefined, ['127.0.0.1'], new Date());
  server = await startWebhookServer({ port: 0, served: [] });
  server.use(ours.serving);
});
afterAll(() => server.stop());

const base64 = (text: string) => Buffer.from(text).toString('base64');

function configure(client: object, name = 'gardener-extension-shoot-flux'): void {
  const entry = {
    ...{ name: 'resource-manager-webhook.shoot-flux.extensions.gardener.cloud', clientConfig: client },
    ...{ sideEffects: 'None', admissionReviewVersions: ['v1'] },
  };
  const kind = 'MutatingWebhookConfiguration';
  const object = { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name }, webhooks: [entry] };
  clusters.seed.objects.create(object);
}

const lines = async (...args: string[]) =>
  (await clusters.lines('webhooks', ...args)).filter((line) => !/garden webhooks|adminGarden/.test(line));
const day = '\\d{4}-\\d\\d-\\d\\d';

it('reports a cluster that calls no webhook; in the garden, only where they are served', async () => {
  const all = await clusters.lines('webhooks');
  expect(all).toEqual([
    '! garden webhooks: The garden has no ValidatingWebhookConfiguration gardener-extension-shoot-flux: mistakes in a providerConfig are reported only once its Shoot is reconciled.',
    '    kubectl apply --server-side -f infra/gardener/webhooks-garden.yaml --kubeconfig adminGarden',
    '✗ aws webhooks: Seed aws has no MutatingWebhookConfiguration gardener-extension-shoot-flux: nothing adds the namespaces of Flux to the arguments of resource-managers.',
    '    kubectl apply --server-side -f infra/gardener/webhooks-seed.yaml --kubeconfig adminSeed',
  ]);
  expect((await clusters.lines('webhooks', '--webhook-port', '9443'))[0]).toMatch(/^✗ garden/);
});

it.each(['gardener-extension-shoot-flux', 'shoot-flux-of-a-chart-1a2b'])(
  'shakes hands with what answers, under the name %s of its configuration',
  async (name) => {
    configure({ url: `https://127.0.0.1:${server.port}/resource-manager`, caBundle: base64(caBundle(ours)) }, name);
    expect(await lines()).toEqual([
      expect.stringMatching(`^✔ aws webhooks: The authority in the caBundle of .* ${name} is valid until ${day}\\.$`),
      expect.stringMatching(`^✔ aws webhooks: 127\\.0\\.0\\.1:\\d+ of .* answers, and its certificate is valid until`),
    ]);
  },
);

it('refuses a certificate of another authority, as an API server does', async () => {
  const others = await renewed(undefined, ['127.0.0.1'], new Date());
  configure({ url: `https://127.0.0.1:${server.port}/resource-manager`, caBundle: base64(caBundle(others)) });
  expect((await lines())[1]).toMatch(
    /^✗ aws webhooks: 127\.0\.0\.1:\d+ serves a certificate that the caBundle of .* does not accept: /,
  );
});

it('cannot reach a Service from outside', async () => {
  const service = { namespace: 'shoot-flux', name: 'shoot-flux', port: 443, path: '/resource-manager' };
  configure({ service, caBundle: base64(caBundle(ours)) });
  expect((await lines())[1]).toMatch(
    /^! aws webhooks: shoot-flux\.shoot-flux\.svc:443 of .* cannot be reached from here: /,
  );
});

const ca = 'The authority in the caBundle of MutatingWebhookConfiguration gardener-extension-shoot-flux';
it.each<[string, () => Promise<string | undefined>, string]>([
  ['none', async () => undefined, '✗ aws webhooks: Mutating.* has no caBundle, so that the API server calls nothing'],
  ['no certificate', async () => 'x', '✗ aws webhooks: The caBundle of Mutating.* holds no certificate'],
  ['an expired one', () => issueCertificate(-365, -1), `✗ aws webhooks: ${ca} expired at`],
  ['one that ends soon', () => issueCertificate(-352, 13), `! aws webhooks: ${ca} expires on ${day}; check why`],
  ['a good one', () => issueCertificate(-300, 40), `✔ aws webhooks: ${ca} is valid until ${day}`],
  ['a short one', () => issueCertificate(-20, 10), `✔ aws webhooks: ${ca} is valid until ${day}`],
])('judges a caBundle with %s', async (_, make, line) => {
  const bundle = await make();
  const service = { namespace: 'shoot-flux', name: 'shoot-flux' };
  configure({ service, ...(bundle !== undefined && { caBundle: base64(bundle) }) });
  expect((await lines())[0]).toMatch(new RegExp(`^${line}`));
});
