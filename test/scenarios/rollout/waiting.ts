import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import { describe, expect, it } from 'vitest';
import { KEPT } from '../../../functions/managed-resources/rollout/rollout.ts';
import { readState } from '../../../shared/gardener/rollout.ts';
import { type KubeObject, type Resource, resources } from '../../../shared/kube/resource.ts';
import { aroundEachTest } from '../around-each-test.ts';
import { type Apis, CONTROL_PLANE, eventually, PROJECT, type ShootParts, type Stage } from '../stage.ts';

const fieldManager = 'person';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const config = (repositoryBranch: string) => ({
  ...{ repositoryUrl: 'https://git.example.com/fleet', repositoryType: 'public', syncMode: 'Reconcile' },
  ...{ repositoryBranch, rollout: '{ maxInProgress: 1, maintenanceWindow: true }' },
});

/** A time of the day as Gardener writes it. */
const inHours = (hours: number) =>
  `${new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 19).replaceAll(':', '')}+0000`;

/** A Shoot with a resource of its own, whose maintenance window is open or begins in hours. */
const shootWith = (isOpen: boolean, version: string): ShootParts => ({
  spec: {
    kubernetes: { version },
    resources: [{ name: 'creds', resourceRef: { apiVersion: 'v1', kind: 'Secret', name: 'my-creds' } }],
    maintenance: {
      timeWindow: isOpen ? { begin: inHours(-1), end: inHours(1) } : { begin: inHours(6), end: inHours(7) },
    },
  },
  providerConfig: {
    apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
    kind: 'FluxConfig',
    additionalSecretResources: [{ name: 'creds' }],
  },
});

/** What reaches a Shoot that waits for its turn, on embedded or real API servers. */
export function waitingSuite(name: string, startApis: () => Promise<Apis>, fluxDistribution: string): void {
  describe(name, () => {
    let stage: Stage;
    aroundEachTest(startApis, fluxDistribution, (next) => {
      stage = next;
    });

    const put = (cluster: 'garden' | 'seed', namespace: string, secret: string, data: Record<string, string>) => {
      const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)]));
      const metadata = { namespace, name: secret };
      const object = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data: encoded } as KubeObject;
      return stage[cluster].apply(resources.secrets, object, { fieldManager });
    };
    const inShoot = (resource: Resource, object: string) =>
      stage.shoot.find(resource, { namespace: 'flux-system', name: object });
    const valueIn = async (object: string, key: string) => {
      const { data } = ((await inShoot(resources.secrets, object)) ?? {}) as { data?: Record<string, string> };
      return Buffer.from(data?.[key] ?? '', 'base64').toString();
    };
    const factOf = async () =>
      ((await inShoot(resources.configMaps, 'shoot-facts')) as { data?: Record<string, string> } | undefined)?.data;
    /** What the shoot has: the branch, both Secrets, and the fact about Kubernetes. */
    const seen = async () => {
      const source = await inShoot(gitRepositories, 'main-gitrepo');
      const { ref } = (source?.spec ?? {}) as { ref?: { branch?: string } };
      return {
        branch: ref?.branch,
        ofProject: await valueIn('flux-variables', 'region'),
        ofShoot: await valueIn('my-creds', 'key'),
        kubernetes: Object.values((await factOf()) ?? {}).filter((value) => /^1\.3\d\.\d$/.test(value)),
      };
    };

    it('rotated Secrets of the project arrive, and everything else waits with the edit', async () => {
      await put('garden', PROJECT, 'flux-variables', { region: 'north' });
      await put('seed', CONTROL_PLANE, 'ref-my-creds', { key: 'first' });
      await stage.setFluxConfig(config('one'));
      await stage.deliver(shootWith(false, '1.34.2'));
      await stage.bootstrap();
      const before = { branch: 'one', ofProject: 'north', ofShoot: 'first', kubernetes: ['1.34.2'] };
      expect(await seen()).toEqual(before);

      await stage.setFluxConfig(config('two'));
      const status = { namespace: PROJECT, name: 'flux-status' };
      await eventually(
        'the wait',
        () => stage.garden.find<KubeObject & { data?: Record<string, string> }>(resources.configMaps, status),
        (map) => readState(map?.data?.RolloutState)?.waiting.has('bar') === true,
      );
      await put('garden', PROJECT, 'flux-variables', { region: 'south' });
      await put('seed', CONTROL_PLANE, 'ref-my-creds', { key: 'second' });
      await eventually('the rotation', seen, ({ ofProject }) => ofProject === 'south');
      // gardenlet upgrades Kubernetes, and gets its answer at once.
      await stage.reconcileShoot(shootWith(false, '1.35.1'));
      const { status: answered } = await eventually(
        'the answer',
        stage.extension,
        (live) => live.status?.lastOperation?.description === KEPT,
        (live) => live.status,
      );
      expect(answered?.lastOperation).toMatchObject({ type: 'Reconcile', state: 'Succeeded' });
      expect(await seen()).toEqual({ ...before, ofProject: 'south' });

      await stage.reconcileShoot(shootWith(true, '1.35.1'));
      await eventually(
        'its turn',
        seen,
        ({ branch, ofShoot }) => branch === 'two' && ofShoot === 'second',
        (live) => live,
      );
      expect(await seen()).toEqual({ branch: 'two', ofProject: 'south', ofShoot: 'second', kubernetes: ['1.35.1'] });
    });
  });
}
