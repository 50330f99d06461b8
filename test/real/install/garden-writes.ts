import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect } from 'vitest';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { creating, eventually, PROJECT, type Stage } from '../../scenarios/stage.ts';

const fieldManager = 'person';
const SHOOT = 'bar';
const statusName = { namespace: PROJECT, name: 'flux-status' };
const sourceName = { namespace: PROJECT, name: 'flux-source' };
const config = (repositoryBranch: string, more: Record<string, string> = {}) => ({
  repositoryUrl: 'ssh://git@github.com/org/fleet',
  repositoryBranch,
  repositoryType: 'private',
  syncMode: 'Reconcile',
  ...more,
});

/** Creates the Shoot, sends an edit in waves, and expects both in `flux-status`. */
export async function rollOut(stage: Stage): Promise<void> {
  const rollout = '{ maxInProgress: 1, maxFailed: 0 }';
  await stage.setFluxConfig(config('main', { rollout }));
  await stage.reconcileShoot({ status: { lastOperation: creating } });
  await stage.untilReady();
  await untilShown(stage);
  await stage.setFluxConfig(config('other', { rollout }));
  await eventually(
    'the edit is in the shoot',
    () => stage.shoot.find(gitRepositories, { namespace: 'flux-system', name: 'main-gitrepo' }),
    (live) => JSON.stringify(live?.spec).includes('"branch":"other"'),
  );
  await untilShown(stage);
  await untilStatus(stage, 'the rollout is over', /^Revision [0-9a-f]{12} has ended: 1 done/, 'Rollout');
}

/** Marks the objects as Flux would, and waits for the line of the Shoot. */
async function untilShown(stage: Stage): Promise<void> {
  await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
  await untilStatus(stage, 'the Shoot is Ready in flux-status', /^Ready$/, SHOOT);
}

function untilStatus(stage: Stage, what: string, pattern: RegExp, key: string): Promise<unknown> {
  return eventually(
    what,
    async () => (await stage.garden.find<ConfigMap>(resources.configMaps, statusName))?.data ?? {},
    (data) => pattern.test(data[key] ?? ''),
  );
}

type ConfigMap = KubeObject & { data?: Record<string, string> };

/**
 * Expects that condition, Events and log name the webhook that refuses `flux-source` and `flux-status`, and the remedy; then
 * follows the remedy, and expects that the Shoot becomes Ready.
 */
export async function createByHand(stage: Stage, webhook: string, output: () => Promise<string>): Promise<void> {
  const secretRemedy = `kubectl create secret generic flux-source --namespace ${PROJECT}`;
  const mapRemedy = `kubectl create configmap flux-status --namespace ${PROJECT}`;
  await stage.setFluxConfig(config('main'));
  await stage.reconcileShoot({ status: { lastOperation: creating } });
  const names = (text: string, ...parts: string[]) => [webhook, ...parts].every((part) => text.includes(part));
  await eventually(
    'the Shoot names webhook and remedy',
    stage.extension,
    ({ status }) => names(status?.lastError?.description ?? '', 'flux-source', secretRemedy),
    ({ status }) => status,
  );
  const messages = async () =>
    (await stage.garden.list<KubeObject & { message?: string }>(resources.events, { namespace: PROJECT })).items.map(
      ({ message = '' }) => message,
    );
  await eventually('an Event names both', messages, (all) => all.some((text) => names(text, secretRemedy)));
  await stage.garden.create(resources.secrets, objectOf('Secret', sourceName), { fieldManager });
  await stage.untilReady();
  await stage.markReady([gitRepositories, 'main-gitrepo'], [kustomizations, 'main-ks']);
  await eventually('an Event names flux-status', messages, (all) => all.some((text) => names(text, mapRemedy)));
  const labels = { 'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux' };
  await stage.garden.create(resources.configMaps, objectOf('ConfigMap', { ...statusName, labels }), { fieldManager });
  // Its next change brings the line.
  await stage.reconcileShoot();
  await untilShown(stage);
  expect(await output()).toContain(webhook);
}

const objectOf = (kind: string, metadata: KubeObject['metadata']): KubeObject => ({ apiVersion: 'v1', kind, metadata });
