import { expect, it } from 'vitest';
import type { Extension } from '../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import { asleep, base64, eventually, inControlPlane, onlyFlux, PROJECT, reference, type ShootParts } from './stage.ts';

const RENEWAL = 'workloadidentity.security.gardener.cloud/token-renew-timestamp';

const creds = reference('creds', 'my-creds');
const vars = reference('vars', 'my-vars', 'ConfigMap');
const cloud = reference('cloud', 'my-cloud', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1');
const listedCreds = reference('creds', 'ref-my-creds');
const listedVars = reference('vars', 'ref-my-vars', 'ConfigMap');

/** A Shoot with these resources; `named` lists those that its configuration names. */
const shootWith = (entries: (typeof creds)[], named = entries): ShootParts => ({
  spec: { resources: entries },
  providerConfig: onlyFlux({ additionalSecretResources: named.map(({ name }) => ({ name })) }),
});

/** Delivery of the Shoot's `spec.resources`, on embedded or real API servers. */
export const referencesSuite = stageSuite((stage) => {
  /** Gardener does these at an unknown time. */
  const copyVars = (content: object) => {
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inControlPlane('ref-my-vars'), ...content };
    return stage.seed.apply(resources.configMaps, map as KubeObject, { fieldManager: 'gardener' });
  };
  const copySecret = (key: string) => stage.putSecret('seed', inControlPlane('ref-my-creds'), { key });
  const ofToken = inControlPlane('workload-identity-ref-my-cloud');
  const copyToken = (token: string, renewal: Date) => {
    const metadata = { ...ofToken, annotations: { [RENEWAL]: renewal.toISOString() } };
    return stage.putSecret('seed', ofToken, { token, config: '{}' }, { type: 'Opaque', metadata });
  };
  const untilData = (resource: Resource, object: string, data: object) =>
    stage.untilInShoot(resource, object, (live) => JSON.stringify(live?.data) === JSON.stringify(data));
  const untilWaiting = (text: string) =>
    stage.until('the wait', ({ lastOperation }) => lastOperation?.description.includes(text) === true);
  /** The requeue delays that runs of managed-resources asked for. */
  const waits = () =>
    stage.logLines
      .map((line) => JSON.parse(line) as { function?: string; afterSeconds?: number })
      .filter((line) => line.function === 'managed-resources' && line.afterSeconds !== undefined)
      .map((line) => line.afterSeconds ?? 0);

  it('keeps a prepared key pair in the garden, also when flux-source is a reference', async () => {
    const texts = { identity: 'a', 'identity.next': 'b', 'identity.next.pub': 'c' };
    await stage.putSecret('seed', inControlPlane('ref-my-creds'), texts);
    await stage.deliver(shootWith([creds]));
    const inShoot = await stage.inShoot(resources.secrets, 'my-creds');
    expect(inShoot?.data).toEqual({ identity: base64('a') });
  });

  it('copies a ConfigMap with its bytes, also when the original is immutable', async () => {
    const content = { data: { a: 'b' }, binaryData: { c: base64('\xff') } };
    await copyVars({ ...content, immutable: true });
    const { status } = await stage.deliver(shootWith([vars]));
    expect(status?.resources).toEqual([listedVars]);
    const inShoot = await stage.inShoot(resources.configMaps, 'my-vars');
    expect(inShoot).toMatchObject(content);
    expect(inShoot).not.toHaveProperty('immutable');
    // An immutable ConfigMap is rotated by replacing it.
    await stage.seed.delete(resources.configMaps, inControlPlane('ref-my-vars'));
    await stage.reconcileShoot(shootWith([vars]));
    await untilWaiting(`ConfigMap ${PROJECT}/my-vars (spec.resources "vars") has not been copied`);
    expect(await stage.inShoot(resources.configMaps, 'my-vars')).toMatchObject(content);
    await copyVars({ data: { a: 'c' }, immutable: true });
    await untilData(resources.configMaps, 'my-vars', { a: 'c' });
    await stage.untilReady();
  });

  it('waits for the token of a WorkloadIdentity, delivers it as a Secret, and does not list it', async () => {
    await stage.putSecret('seed', ofToken, { config: '{}' }, { type: 'Opaque' });
    await stage.reconcileShoot(shootWith([cloud]));
    await untilWaiting(`WorkloadIdentity ${PROJECT}/my-cloud (spec.resources "cloud") has no token`);
    await copyToken('one', new Date(Date.now() + 4 * 3_600_000));
    const { status } = await stage.untilReady();
    expect(status?.resources ?? []).toEqual([]);
    const data = { config: base64('{}'), token: base64('one') };
    expect(await stage.inShoot(resources.secrets, 'my-cloud')).toMatchObject({ type: 'Opaque', data });
  });

  it('rechecks a token when it is renewed', async () => {
    const renewal = new Date(Date.now() + 600_000);
    await copyToken('one', renewal);
    await stage.deliver(shootWith([cloud]));
    const asked = await eventually(
      'the next recheck',
      async () => waits().at(-1) ?? 0,
      (seconds) => seconds > 60,
    );
    // After 65 % of the time that was left in that run; less is left now.
    expect(asked).toBeLessThanOrEqual(390);
    expect(asked).toBeGreaterThanOrEqual(0.65 * ((renewal.getTime() - Date.now()) / 1000));
    await copyToken('two', new Date(Date.now() + 4 * 3_600_000));
    await stage.reconcileShoot(shootWith([cloud]));
    await untilData(resources.secrets, 'my-cloud', { config: base64('{}'), token: base64('two') });
  });

  /** A hundred copies of one Secret, under their own names. */
  const hundredCopies: ShootParts = {
    ...shootWith([creds]),
    providerConfig: {
      additionalSecretResources: Array.from({ length: 100 }, (_, i) => ({ name: 'creds', targetName: `copy-${i}` })),
    },
  };

  it('reads a Secret once in each run, however many copies of it are configured', async () => {
    await copySecret('a');
    await stage.deliver(hundredCopies);
    expect(await stage.inShoot(resources.secrets, 'copy-99')).toMatchObject({
      data: { key: base64('a') },
    });
    const reads = (wanted: string) =>
      stage.requests.filter(
        ({ identity, cluster, method, resource }) =>
          identity === 'managed-resources' && cluster !== 'garden' && method === 'GET' && resource === wanted,
      ).length;
    expect(reads('secrets')).toBeGreaterThan(0);
    // A run begins with the Extension, and reads a few Secrets besides; a read for every copy would be a hundred.
    expect(reads('secrets')).toBeLessThan(20 * reads('extensions.extensions.gardener.cloud'));
  });

  it('refuses copies that are too large together, and keeps those that were delivered', async () => {
    await copySecret('a');
    await stage.deliver(hundredCopies);
    // 100 copies of 16 KiB are 1.6 MiB, which the resource-manager would have to inflate for each Shoot.
    await copySecret('x'.repeat(12 * 1024));
    await stage.reconcileShoot(hundredCopies);
    await stage.untilError(
      'providerConfig: additionalSecretResources copies more than 1,280 KiB in all; flux-system/copy-0 alone has 17 KiB. Copy fewer or smaller objects',
    );
    expect(await stage.inShoot(resources.secrets, 'copy-99')).toMatchObject({
      data: { key: base64('a') },
    });
  });

  it('stops listing a resource that the Shoot no longer names, and keeps its copy while the configuration names it', async () => {
    await copySecret('a');
    await copyVars({ data: { a: 'b' } });
    const { status } = await stage.deliver(shootWith([creds, vars]));
    expect(status?.resources).toEqual([listedCreds, listedVars]);
    await stage.reconcileShoot(shootWith([vars], [creds, vars]));
    await stage.seed.delete(resources.secrets, inControlPlane('ref-my-creds'));
    await stage.untilError('"creds" is not an entry');
    // gardenlet saves every listed resource in the state of the Shoot.
    expect((await stage.extension()).status?.resources).toEqual([listedVars]);
    expect(await stage.inShoot(resources.secrets, 'my-creds')).toBeDefined();
    await stage.deliver(shootWith([vars]));
    await stage.untilInShoot(resources.secrets, 'my-creds', (live) => live === undefined);
    expect(await stage.inShoot(resources.configMaps, 'my-vars')).toBeDefined();
  });

  it('stops listing a resource that a hibernated Shoot no longer names', async () => {
    await copySecret('a');
    await stage.deliver(shootWith([creds]));
    const { status } = await stage.deliver({
      ...shootWith([creds]),
      spec: { ...asleep.spec, resources: [] },
    });
    expect(status?.resources).toEqual([]);
  });

  it('uses the earlier copies after a restore until Gardener has created its own', async () => {
    await copySecret('before');
    await copyVars({ data: { a: 'before' } });
    const { status } = await stage.deliver(shootWith([creds, vars]));
    await stage.moveAway();
    // gardenlet recreates the Extension on another seed from the saved state alone.
    await stage.createWaiting(shootWith([creds, vars]).providerConfig);
    await stage.restore({ status } as Extension);
    const restored = await stage.untilReady();
    expect(restored.status?.lastOperation?.type).toBe('Restore');
    expect(restored.status?.resources).toEqual([listedCreds, listedVars]);
    await untilData(resources.secrets, 'my-creds', { key: base64('before') });
    await copySecret('after');
    await untilData(resources.secrets, 'my-creds', { key: base64('after') });
  });
});
