import { expect } from 'vitest';
import { resources } from '../../../shared/kube/resource.ts';
import { CONTROL_PLANE, eventually, PROJECT, type Stage } from '../../scenarios/stage.ts';

const password = 'marked-password';
const dockerConfig = JSON.stringify({ auths: { 'registry.example.com': { username: 'robot', password } } });
const data = { '.dockerconfigjson': Buffer.from(dockerConfig).toString('base64') };
const pullSecret = 'shoot-flux-pull-secret';
const fieldManager = 'operator';
/** Another namespace than that of a Shoot before, which nothing removes here. */
const namespace = 'elsewhere';
const inFlux = (name: string) => ({ namespace, name });

/** Values of a chart with which the operators decide about registry and release. */
export const landscapeValues = {
  defaults: { flux: { namespace, registry: 'registry.example.com/fluxcd', version: '2.9.x' }, pullSecret: {} },
  policy: { allowedRegistries: ['registry.example.com/**'], allowedVersions: ['2.9.x'] },
};

const sentences = [
  'registry "ghcr.io/fluxcd" is not allowed by allowedRegistries in the policy of this landscape; use registry.example.com/**',
  'fluxVersion "v2.8.3" is not allowed by allowedVersions in the policy of this landscape; use 2.9.x',
];

/**
 * Writes a `flux-config` that these values refuse, then one that they allow, and expects what users see of both.
 * @param output returns what the product has printed
 */
export async function obeysOperators(stage: Stage, output: () => Promise<string>): Promise<void> {
  const repositoryUrl = 'https://git.example.com/fleet';
  await placePullSecret(stage);
  await stage.setFluxConfig({ repositoryUrl, registry: 'ghcr.io/fluxcd', fluxVersion: '2.8.3' });
  await stage.reconcileShoot();
  const includesAll = (text: string) => sentences.every((sentence) => text.includes(sentence));
  await eventually(
    'the Shoot names the rules',
    stage.extension,
    ({ status }) => includesAll(status?.lastError?.description ?? ''),
    ({ status }) => status,
  );
  expect(await stage.managedResources()).toEqual({});
  await eventually(
    'an Event names the rules',
    async () => (await stage.garden.list(resources.events, { namespace: PROJECT })).items,
    (events) => events.some(({ reason, ...event }) => reason === 'NotAllowed' && includesAll(String(event.message))),
  );

  await stage.setFluxConfig({ repositoryUrl });
  const { status } = await stage.untilReady();
  expect(status?.providerStatus).toMatchObject({ fluxVersion: expect.stringMatching(/^v2\.9\./) });
  const deployment = await stage.shoot.find(resources.deployments, inFlux('source-controller'));
  expect(deployment?.spec).toMatchObject({
    template: {
      spec: {
        containers: [{ image: expect.stringMatching(/^registry\.example\.com\/fluxcd\/source-controller:v/) }],
        imagePullSecrets: [{ name: pullSecret }],
      },
    },
  });
  const copy = await stage.shoot.find(resources.secrets, inFlux(pullSecret));
  expect(copy).toMatchObject({ type: 'kubernetes.io/dockerconfigjson', data });
  expect(await output()).not.toContain(password);

  await stage.deleteExtension();
  const name = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
  await eventually(
    'the Extension is gone',
    () => stage.seed.find(resources.extensions, name),
    (live) => live === undefined,
  );
}

async function placePullSecret({ garden }: Stage): Promise<void> {
  const metadata = { namespace: 'garden', name: pullSecret };
  const ofGarden = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: metadata.namespace } };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/dockerconfigjson', data };
  await garden.apply(resources.namespaces, ofGarden, { fieldManager });
  await garden.apply(resources.secrets, secret, { fieldManager });
}
