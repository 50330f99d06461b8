import { describe, expect, it } from 'vitest';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import { aroundEachTest } from './around-each-test.ts';
import { type Apis, CONTROL_PLANE, eventually, PROJECT, patience, type ShootParts, type Stage } from './stage.ts';

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

/** A Shoot that has these entries copied; `named` are those that its configuration names. */
const shootWith = (entries: (typeof creds)[], named = entries): ShootParts => ({
  spec: { resources: entries },
  providerConfig: {
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    additionalSecretResources: named.map(({ name }) => ({ name })),
  },
});

/** What the Shoot's `spec.resources` names on its way into the shoot, on any API servers. */
export function referencesSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, { timeout: patience }, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    /** As Gardener does, at some time or other. */
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
    /** How long runs of managed-resources have asked to wait. */
    const waits = () =>
      stage.logLines
        .map((line) => JSON.parse(line) as { function?: string; afterSeconds?: number })
        .filter((line) => line.function === 'managed-resources' && line.afterSeconds !== undefined)
        .map((line) => line.afterSeconds ?? 0);

    it('a key pair that a rotation has prepared stays in the garden, also when flux-source is a reference', async () => {
      const data = { identity: base64('a'), 'identity.next': base64('b'), 'identity.next.pub': base64('c') };
      await copy(resources.secrets, 'ref-my-creds', { data });
      await stage.reconcileShoot(shootWith([creds]));
      await stage.untilReady();
      const inShoot = await stage.shoot.find(resources.secrets, inFlux('my-creds'));
      expect(inShoot?.data).toEqual({ identity: base64('a') });
    });

    it('a ConfigMap becomes a ConfigMap, with its bytes; that the original is immutable does not matter', async () => {
      const content = { data: { a: 'b' }, binaryData: { c: base64('\xff') } };
      await copy(resources.configMaps, 'ref-my-vars', { ...content, immutable: true });
      await stage.reconcileShoot(shootWith([vars]));
      const { status } = await stage.untilReady();
      expect(status?.resources).toEqual([listed('vars', 'ConfigMap')]);
      const inShoot = await stage.shoot.find(resources.configMaps, inFlux('my-vars'));
      expect(inShoot).toMatchObject(content);
      expect(inShoot).not.toHaveProperty('immutable');
      // An immutable one is rotated by another one in its place.
      await stage.seed.delete(resources.configMaps, inControlPlane('ref-my-vars'));
      await stage.reconcileShoot(shootWith([vars]));
      await untilWaiting(`ConfigMap ${PROJECT}/my-vars (spec.resources "vars") has not been copied`);
      expect(await stage.shoot.find(resources.configMaps, inFlux('my-vars'))).toMatchObject(content);
      await copy(resources.configMaps, 'ref-my-vars', { data: { a: 'c' }, immutable: true });
      await untilInShoot(resources.configMaps, 'my-vars', { data: { a: 'c' } });
      await stage.untilReady();
    });

    it('the token of a WorkloadIdentity is waited for, becomes a Secret, and is not listed', async () => {
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

    it('a token is looked at again when it is renewed', async () => {
      await copyToken('one', new Date(Date.now() + 600_000));
      await stage.reconcileShoot(shootWith([cloud]));
      await stage.untilReady();
      // Ten minutes, of which four fifths are waited.
      const asked = await eventually(
        'the next look',
        async () => waits().at(-1) ?? 0,
        (seconds) => seconds > 60,
      );
      expect(asked).toBeLessThanOrEqual(480);
      expect(asked).toBeGreaterThan(440);
      await copyToken('two', new Date(Date.now() + 4 * 3_600_000));
      await stage.reconcileShoot(shootWith([cloud]));
      await untilInShoot(resources.secrets, 'my-cloud', { data: { config: base64('{}'), token: base64('two') } });
    });

    it('what leaves the resources of the Shoot is not listed any more, and stays in the shoot while it is named', async () => {
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
      // gardenlet saves the state of a Shoot with everything that is listed.
      expect(failed.status?.resources).toEqual([listed('vars', 'ConfigMap')]);
      expect(await stage.shoot.find(resources.secrets, inFlux('my-creds'))).toBeDefined();
      await stage.reconcileShoot(shootWith([vars]));
      await stage.untilReady();
      await eventually(
        'the Secret goes',
        () => stage.shoot.find(resources.secrets, inFlux('my-creds')),
        (live) => live === undefined,
      );
      expect(await stage.shoot.find(resources.configMaps, inFlux('my-vars'))).toBeDefined();
    });

    it('what leaves the resources of a hibernated Shoot is not listed any more', async () => {
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

    it('after a restoration the copies of before are used, until Gardener has made its own', async () => {
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
      // The same Extension, as gardenlet makes it on another seed: with what it has saved, and nothing else.
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
