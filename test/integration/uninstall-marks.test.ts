import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { describe, expect, it } from 'vitest';
import { uninstall } from '../../functions/managed-resources/uninstall/uninstall.ts';
import { appliedFactory } from '../../shared/gardener/testing.ts';
import { resources } from '../../shared/kube/resource.ts';
import { patientClient } from '../patient-client.ts';

const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const person = { fieldManager: 'person' };
const origin = { 'resources.gardener.cloud/origin': 'seed-id:shoot--foo--bar/shoot-flux-secrets' };

async function startShoot() {
  const api = await startKubeApi({ objects: [] });
  const { url: server, ca, token } = api;
  const shoot = patientClient({ server, ca, token });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flux-system' } };
  await shoot.create(resources.namespaces, namespace, person);
  const stop = async () => {
    shoot.close();
    await api.stop();
  };
  return { api, shoot, [Symbol.asyncDispose]: stop };
}

describe('a removal of Flux', () => {
  it('keeps a Secret and a ConfigMap with which a user has replaced ours, and removes our own', async () => {
    await using started = await startShoot();
    const { shoot } = started;
    const configMap = (name: string, annotations = {}) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      ...{ metadata: { ...inFlux(name), annotations }, data: { a: 'b' } },
    });
    await shoot.create(resources.configMaps, configMap('theirs'), person);
    await shoot.create(resources.configMaps, configMap('by-resource-manager', origin), person);
    await shoot.apply(resources.configMaps, configMap('by-us'), { fieldManager: 'shoot-flux-managed-resources' });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: inFlux('theirs'), data: {} };
    await shoot.create(resources.secrets, secret, person);
    const refs = ['theirs', 'by-resource-manager', 'by-us'].map((name) => `ConfigMap/flux-system/${name}`);
    const applied = appliedFactory({ objects: { 'shoot-flux-secrets': [...refs, 'Secret/flux-system/theirs'] } });

    await uninstall(shoot, applied, new Date(), () => false);
    const again = await uninstall(shoot, applied, new Date(), () => false);

    const left = async (resource: (typeof resources)['secrets' | 'configMaps']) =>
      (await shoot.list(resource, { namespace: 'flux-system' })).items.map(({ metadata }) => metadata.name);
    expect(await left(resources.configMaps)).toEqual(['theirs']);
    expect(await left(resources.secrets)).toEqual(['theirs']);
    expect(again).toEqual({ gone: [...refs, 'Secret/flux-system/theirs'] });
    const namespace = await shoot.find(resources.namespaces, { name: 'flux-system' });
    expect(namespace?.metadata).not.toHaveProperty('deletionTimestamp');
  });

  it('deletes the namespace in the next run when the time is up before the namespace has been searched', async () => {
    await using started = await startShoot();
    const { api, shoot } = started;
    const isDeleted = async () =>
      (await shoot.find(resources.namespaces, { name: 'flux-system' }))?.metadata.deletionTimestamp !== undefined;
    const applied = appliedFactory({ objects: {} });
    const isTimeUp = () => api.requestsLike({ path: /\/namespaces\/flux-system\// }).length > 0;

    const slow = await uninstall(shoot, applied, new Date(), isTimeUp);
    expect([slow.awaited, await isDeleted()]).toEqual([
      expect.stringContaining('the next run removes the rest'),
      false,
    ]);
    expect(await uninstall(shoot, applied, new Date(), () => false)).toEqual({ gone: [] });
    expect(await isDeleted()).toBe(true);
  });
});
