import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { explain } from '../../functions/readiness/explain/explain.ts';
import { readiness } from '../../functions/readiness/kstatus.ts';
import type { KubeObject, Resource } from '../../shared/kube/resource.ts';
import { eventually, inFlux } from '../scenarios/stage.ts';
import { failingObjects } from './failing/objects.ts';
import { type StartedServers, startServers } from './failing/servers.ts';
import { onRealApis, useGitServer } from './on-real-apis.ts';
import { type FluxStage, startFluxStage } from './sync/flux-stage.ts';
import { allKinds } from './sync/kinds.ts';

const fieldManager = 'test';
const place = { object: 'providerConfig', path: 'objects[1]' };
const origin = { from: 'providerConfig', isReleased: false, place } as const;
const quotation = 'Flux says: |\\(The original message is withheld because it may contain Secret data\\.\\)$';

onRealApis('what the real controllers of Flux report', ({ apis, fluxDistribution }) => {
  const git = useGitServer();
  let started: StartedServers;
  let flux: FluxStage;

  beforeAll(async () => {
    started = await startServers(git());
    flux = await startFluxStage(apis(), fluxDistribution);
    await flux.stage.setFluxConfig({
      repositoryUrl: started.servers.git.httpUrl,
      repositoryBranch: 'main',
      repositoryPath: './plain',
      'config.yaml': stringify({ flux: { componentsExtra: ['image-reflector-controller'] } }),
    });
    await flux.stage.reconcileShoot();
    await flux.stage.untilReady();
  });

  afterAll(async () => {
    await flux?.[Symbol.asyncDispose]();
    await started?.[Symbol.asyncDispose]();
  });

  const kindOf = (kind: string): Resource => {
    const found = Object.values(allKinds).find((resource) => resource.kind === kind);
    if (found === undefined) throw new Error(`No kind ${kind}.`);
    return found;
  };
  const explained = (kind: string, live: KubeObject | undefined) => {
    if (live === undefined) return undefined;
    const state = readiness({ ...live, kind });
    return state.state === 'current' ? undefined : explain({ ...live, kind }, state.message, origin);
  };

  it('has a reason and a remedy for each failure, and shows no secrets', async () => {
    const { shoot } = flux.stage;
    for (const [name, values] of Object.entries(started.secrets)) {
      const type = '.dockerconfigjson' in values ? 'kubernetes.io/dockerconfigjson' : 'Opaque';
      await flux.stage.putSecret('shoot', inFlux(name), values, { type });
    }
    const objects = failingObjects(started.servers);
    for (const { kind, name, spec } of objects) {
      const resource = kindOf(kind);
      const apiVersion = `${resource.group}/${resource.version}`;
      await shoot.create(resource, { apiVersion, kind, metadata: inFlux(name), spec }, { fieldManager });
    }
    const wrong: string[] = [];
    for (const { kind, name, reason } of objects) {
      // Each wrong one takes minutes.
      if (reason === 'ready' || wrong.length > 2) continue;
      const find = () => shoot.find(kindOf(kind), inFlux(name));
      const isExplained = (live: KubeObject | undefined) => explained(kind, live)?.reason === reason;
      const live = await eventually(`${kind} ${name}`, find, isExplained).catch(find);
      const { reason: found, message = '' } = explained(kind, live) ?? {};
      const isWhole = new RegExp(`^${kind} flux-system/${name}: [^;]+; .*(?:${quotation})`, 's').test(message);
      if (!isExplained(live) || !isWhole) wrong.push(`${kind} ${name} is ${found} instead of ${reason}: ${message}`);
      expect(message).not.toContain('s3cr3t');
    }
    expect(wrong).toEqual([]);
  });
});
