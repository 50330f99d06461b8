import { describe, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from './around-each-test.ts';
import { type Apis, CONTROL_PLANE, eventually, PROJECT, type ShootParts, type Stage } from './stage.ts';

const fieldManager = 'gardener';
const extensionName = { namespace: CONTROL_PLANE, name: 'shoot-flux' };
const inFlux = (name: string) => ({ namespace: 'flux-system', name });
const inControlPlane = (name: string) => ({ namespace: CONTROL_PLANE, name });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const RENEWAL = 'workloadidentity.security.gardener.cloud/token-renew-timestamp';

const reference = (name: string, kind: string, apiVersion = 'v1') => ({
  name,
  resourceRef: { apiVersion, kind, name: `my-${name}` },
});
const creds = reference('creds', 'Secret');
const vars = reference('vars', 'ConfigMap');
const cloud = reference('cloud', 'WorkloadIdentity', 'security.gardener.cloud/v1alpha1');
const listed = (name: string, kind: string) => ({
  name,
  resourceRef: { apiVersion: 'v1', kind, name: `ref-my-${name}` },
});

/** A Shoot with these resources; `named` lists those that its configuration names. */
const shootWith = (entries: (typeof creds)[], named = entries): ShootParts => ({
  spec: { resources: entries },
  providerConfig: {
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    additionalSecretResources: named.map(({ name }) => ({ name })),
  },
});

/** Delivery of the Shoot's `spec.resources`, on embedded or real API servers. */
export function referencesSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    /** Gardener does this at an unknown time. */
    const copy = (
      resource: Resource,
      object: string,
      content: Omit<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
      annotations = {},
    ) =>
      stage.seed.apply(
        resource,
        {
          apiVersion: 'v1',
          kind: resource.kind,
          metadata: { ...inControlPlane(object), annotations },
          ...content,
        } as KubeObject,
        { fieldManager },
      );
    const copySecret = (text: string) => copy(resources.secrets, 'ref-my-creds', { data: { key: base64(text) } });
    const copyToken = (text: string, renewal: Date) =>
      copy(
        resources.secrets,
        'workload-identity-ref-my-cloud',
        { type: 'Opaque', data: { token: base64(text), config: base64('{}') } },
        { [RENEWAL]: renewal.toISOString() },
      );
    const untilInShoot = (resource: Resource, object: string, content: object) =>
      eventually(
        `${resource.kind} ${object} in the shoot`,
        () => stage.shoot.find(resource, inFlux(object)),
        (live) =>
          Object.entries(content).every(([key, value]) => JSON.stringify(live?.[key]) === JSON.stringify(value)),
      );
    const untilWaiting = (text: string) =>
      eventually(
        'the wait',
        stage.extension,
        ({ status }) => status?.lastOperation?.description.includes(text) === true,
        ({ status }) => status,
      );
    /** The requeue delays that runs of managed-resources asked for. */
    const waits = () =>
      stage.logLines
        .map((line) => JSON.parse(line) as { function?: string; afterSeconds?: number })
        .filter((line) => line.function === 'managed-resources' && line.afterSeconds !== undefined)
        .map((line) => line.afterSeconds ?? 0);

    it('keeps a prepared key pair in the garden, also when flux-source is a reference', async () => {
      const data = { identity: base64('a'), 'identity.next': base64('b'), 'identity.next.pub': base64('c') };
      await copy(resources.secrets, 'ref-my-creds', { data });
      await stage.reconcileShoot(shootWith([creds]));
      await stage.untilReady();
      const inShoot = await stage.shoot.find(resources.secrets, inFlux('my-creds'));
      expect(inShoot?.data).toEqual({ identity: base64('a') });
    });

    it('copies a ConfigMap with its bytes, also when the original is immutable', async () => {
      const content = { data: { a: 'b' }, binaryData: { c: base64('\xff') } };
      await copy(resources.configMaps, 'ref-my-vars', { ...content, immutable: true });
      await stage.reconcileShoot(shootWith([vars]));
      const { status } = await stage.untilReady();
      expect(status?.resources).toEqual([listed('vars', 'ConfigMap')]);
      const inShoot = await stage.shoot.find(resources.configMaps, inFlux('my-vars'));
      expect(inShoot).toMatchObject(content);
      expect(inShoot).not.toHaveProperty('immutable');
      // An immutable ConfigMap is rotated by replacing it.
      await stage.seed.delete(resources.configMaps, inControlPlane('ref-my-vars'));
      await stage.reconcileShoot(shootWith([vars]));
      await untilWaiting(`ConfigMap ${PROJECT}/my-vars (spec.resources "vars") has not been copied`);
      expect(await stage.shoot.find(resources.configMaps, inFlux('my-vars'))).toMatchObject(content);
      await copy(resources.configMaps, 'ref-my-vars', { data: { a: 'c' }, immutable: true });
      await untilInShoot(resources.configMaps, 'my-vars', { data: { a: 'c' } });
      await stage.untilReady();
    });

    it('waits for the token of a WorkloadIdentity, delivers it as a Secret, and does not list it', async () => {
      await copy(resources.secrets, 'workload-identity-ref-my-cloud', {
        type: 'Opaque',
        data: { config: base64('{}') },
      });
      await stage.reconcileShoot(shootWith([cloud]));
      await untilWaiting(`WorkloadIdentity ${PROJECT}/my-cloud (spec.resources "cloud") has no token`);
      await copyToken('one', new Date(Date.now() + 4 * 3_600_000));
      const { status } = await stage.untilReady();
      expect(status?.resources ?? []).toEqual([]);
      const data = { config: base64('{}'), token: base64('one') };
      expect(await stage.shoot.find(resources.secrets, inFlux('my-cloud'))).toMatchObject({ type: 'Opaque', data });
    });

    it('rechecks a token when it is renewed', async () => {
      await copyToken('one', new Date(Date.now() + 600_000));
      await stage.reconcileShoot(shootWith([cloud]));
      await stage.untilReady();
      // 65 % of ten minutes.
      const asked = await eventually(
        'the next recheck',
        async () => waits().at(-1) ?? 0,
        (seconds) => seconds > 60,
      );
      expect(asked).toBeLessThanOrEqual(390);
      expect(asked).toBeGreaterThan(350);
      await copyToken('two', new Date(Date.now() + 4 * 3_600_000));
      await stage.reconcileShoot(shootWith([cloud]));
      await untilInShoot(resources.secrets, 'my-cloud', { data: { config: base64('{}'), token: base64('two') } });
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
      await stage.reconcileShoot(hundredCopies);
      await stage.untilReady();
      expect(await stage.shoot.find(resources.secrets, inFlux('copy-99'))).toMatchObject({
        data: { key: base64('a') },
      });
      const reads = stage.requests.filter(
        ({ identity, cluster, method, resource }) =>
          identity === 'managed-resources' && cluster !== 'garden' && method === 'GET' && resource === 'secrets',
      );
      expect(reads.length).toBeGreaterThan(0);
      // Some runs, each with a few reads besides; a read for every copy would be a hundred in each of them.
      expect(reads.length).toBeLessThan(50);
    });

    it('refuses copies that are too large together, and keeps those that were delivered', async () => {
      await copySecret('a');
      await stage.reconcileShoot(hundredCopies);
      await stage.untilReady();
      // 100 copies of 16 KiB are 1.6 MiB, which the resource-manager would have to inflate for each Shoot.
      await copySecret('x'.repeat(12 * 1024));
      await stage.reconcileShoot(hundredCopies);
      const failed = await eventually(
        'the error',
        stage.extension,
        (live) => live.status?.lastError !== undefined,
        (live) => live.status,
      );
      expect(failed.status?.lastError?.description).toContain(
        'providerConfig: additionalSecretResources copies more than 1,280 KiB in all; flux-system/copy-0 alone has 17 KiB. Copy fewer or smaller objects',
      );
      expect(await stage.shoot.find(resources.secrets, inFlux('copy-99'))).toMatchObject({
        data: { key: base64('a') },
      });
    });

    it('stops listing a resource that the Shoot no longer names, and keeps its copy while the configuration names it', async () => {
      await copySecret('a');
      await copy(resources.configMaps, 'ref-my-vars', { data: { a: 'b' } });
      await stage.reconcileShoot(shootWith([creds, vars]));
      const { status } = await stage.untilReady();
      expect(status?.resources).toEqual([listed('creds', 'Secret'), listed('vars', 'ConfigMap')]);
      await stage.reconcileShoot(shootWith([vars], [creds, vars]));
      await stage.seed.delete(resources.secrets, inControlPlane('ref-my-creds'));
      const failed = await eventually(
        'the error',
        stage.extension,
        (live) => live.status?.lastError?.description.includes('"creds" is not an entry') === true,
        (live) => live.status,
      );
      // gardenlet saves every listed resource in the state of the Shoot.
      expect(failed.status?.resources).toEqual([listed('vars', 'ConfigMap')]);
      expect(await stage.shoot.find(resources.secrets, inFlux('my-creds'))).toBeDefined();
      await stage.reconcileShoot(shootWith([vars]));
      await stage.untilReady();
      await eventually(
        'the Secret is deleted',
        () => stage.shoot.find(resources.secrets, inFlux('my-creds')),
        (live) => live === undefined,
      );
      expect(await stage.shoot.find(resources.configMaps, inFlux('my-vars'))).toBeDefined();
    });

    it('stops listing a resource that a hibernated Shoot no longer names', async () => {
      await copySecret('a');
      await stage.reconcileShoot(shootWith([creds]));
      await stage.untilReady();
      await stage.reconcileShoot({
        ...shootWith([creds]),
        spec: { hibernation: { enabled: true }, resources: [] },
      });
      const { status } = await stage.untilReady();
      expect(status?.resources).toEqual([]);
    });

    it('uses the earlier copies after a restore until Gardener has created its own', async () => {
      await copySecret('before');
      await copy(resources.configMaps, 'ref-my-vars', { data: { a: 'before' } });
      await stage.reconcileShoot(shootWith([creds, vars]));
      const { status } = await stage.untilReady();
      const operate = (operation: string) => {
        const annotations = {
          'gardener.cloud/operation': operation,
          'gardener.cloud/timestamp': new Date().toISOString(),
        };
        return stage.seed.mergePatch(
          resources.extensions,
          extensionName,
          { metadata: { annotations } },
          { fieldManager },
        );
      };
      await operate('migrate');
      await eventually(
        'the control plane has migrated',
        stage.extension,
        (live) => live.status?.lastOperation?.type === 'Migrate' && live.metadata.finalizers === undefined,
        (live) => live.status?.lastOperation,
      );
      await stage.deleteExtension();
      // gardenlet recreates the Extension on another seed from the saved state alone.
      const { providerConfig } = shootWith([creds, vars]);
      const metadata = { ...extensionName, annotations: { 'gardener.cloud/operation': 'wait-for-state' } };
      const spec = { type: 'shoot-flux', providerConfig };
      const api = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension' };
      await stage.seed.create(resources.extensions, { ...api, metadata, spec }, { fieldManager });
      const saved = { status: { state: status?.state, resources: status?.resources } };
      await stage.seed.mergePatch(resources.extensions, extensionName, saved, { fieldManager, subresource: 'status' });
      await operate('restore');
      const restored = await stage.untilReady();
      expect(restored.status?.lastOperation?.type).toBe('Restore');
      expect(restored.status?.resources).toEqual([listed('creds', 'Secret'), listed('vars', 'ConfigMap')]);
      await untilInShoot(resources.secrets, 'my-creds', { data: { key: base64('before') } });
      await copySecret('after');
      await untilInShoot(resources.secrets, 'my-creds', { data: { key: base64('after') } });
    });
  });
}
