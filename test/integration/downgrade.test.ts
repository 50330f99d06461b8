import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { eventually, startStage } from '../scenarios/stage.ts';
import { startEmbeddedApis } from './embedded-apis.ts';

const OLDER = 'v2.8.0';
const fieldManager = 'test';

describe('CRDs that the shoot refuses for a while', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'distribution-'));
    await cp(standInDistribution.folder, folder, { recursive: true });
    await cp(join(folder, standInDistribution.version), join(folder, OLDER), { recursive: true });
  });

  afterAll(() => rm(folder, { recursive: true }));

  it('do not make an older release possible once a newer one was installed', async () => {
    await using stage = await startStage(await startEmbeddedApis(), folder);
    await stage.startProduct();
    const config = (version: string) => ({
      apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
      kind: 'FluxConfig',
      syncMode: 'Reconcile',
      flux: { version },
    });
    await stage.reconcileShoot({ providerConfig: config(standInDistribution.version) });
    await stage.untilReady();
    expect((await stage.extension()).status?.state?.applied?.installed).toBe(standInDistribution.version);
    await stage.stopResourceManager();
    const failing = {
      status: {
        conditions: [
          {
            type: 'ResourcesApplied',
            status: 'False',
            reason: 'ApplyFailed',
            message: 'admission webhook "policy.example.com" denied the request: not now',
            lastTransitionTime: '2026-01-02T03:04:05Z',
            lastUpdateTime: '2026-01-02T03:04:05Z',
          },
        ],
      },
    };
    const crds = (await stage.managedResources())['shoot-flux-crds']?.metadata ?? { name: '' };
    const options = { fieldManager, subresource: 'status' as const };
    await stage.seed.mergePatch(resources.managedResources, crds, failing, options);
    await stage.reconcileShoot({ providerConfig: config(OLDER) });
    const { status } = await eventually(
      'the older release is refused',
      stage.extension,
      (extension) => extension.status?.lastError?.description.includes('never downgraded') === true,
      (extension) => extension.status,
    );
    expect(status?.state?.applied?.fluxVersion).toBe(standInDistribution.version);
  });
});
