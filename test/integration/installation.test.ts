import { gitRepositories } from '@shoot-flux/landscape/flux/objects';
import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { describe, expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { requeueAfter } from '../../shared/runtime/outcome.ts';
import { aroundEachTest } from '../scenarios/around-each-test.ts';
import { failing, ready, startProject } from '../scenarios/project/project.ts';
import {
  branchOf,
  creating,
  eventually,
  inProject,
  privateRepository,
  publicRepository,
  type Stage,
  untilLogged,
} from '../scenarios/stage.ts';
import { ownDistribution, startApisWithShippedRights } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const withRollout = (repositoryBranch: string) => ({
  ...publicRepository,
  ...{ syncMode: 'Reconcile', repositoryBranch, rollout: '{ maxInProgress: 1 }' },
});
const source = inProject('flux-source');
const statusMap = inProject('flux-status');
const labels = { 'app.kubernetes.io/managed-by': 'gardener-extension-shoot-flux' };
const person = { fieldManager: 'kubectl' };
const denied = 'because the admission webhook seed-restriction.gardener.cloud denies it; create it';
const chart =
  'Once the operators of this landscape have upgraded the shoot-flux chart, shoot-flux has its own account in the garden and can create it itself.';
const secretRefused = `Secret garden-foo/flux-source cannot be created, ${denied} empty with \`kubectl create secret generic flux-source --namespace garden-foo\`, and shoot-flux fills it. ${chart}`;
const secretAwaited =
  'Secret garden-foo/flux-source in the garden does not exist yet; see the Events of ConfigMap garden-foo/flux-config.';
const statusRefused = `ConfigMap garden-foo/flux-status cannot be created, ${denied} with \`kubectl create configmap flux-status --namespace garden-foo\` and label it with \`kubectl label configmap flux-status --namespace garden-foo app.kubernetes.io/managed-by=gardener-extension-shoot-flux\`. ${chart}`;

const asRestricted = () => startApisWithShippedRights(undefined, 'extension-shoot-flux-x7k2p');

function withoutReadingEvents(garden: KubeApi): void {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
  for (const { metadata, rules } of garden.objects.list(role.apiVersion, role.kind)) {
    const without = (rules as { verbs: string[]; resources?: string[] }[]).map((rule) =>
      rule.resources?.includes('events') ? { ...rule, verbs: ['create'] } : rule,
    );
    garden.objects.patch({ ...role, metadata }, { rules: without });
  }
}

let stage: Stage;
const use = (next: Stage) => {
  stage = next;
};
const eventsOf = async (reason: string) =>
  (await stage.events(reason)).map(({ involvedObject, message }) => [
    (involvedObject as { kind: string }).kind,
    message,
  ]);
const keysOfSource = async () => Object.keys((await stage.garden.find(resources.secrets, source))?.data ?? {}).sort();
const linesOf = async () =>
  (await stage.garden.find(resources.configMaps, statusMap))?.data as Record<string, string> | undefined;
const untilLine = (name: string) => eventually('the line', linesOf, (lines) => lines?.[name] !== undefined);
const create = () => stage.reconcileShoot({ status: { lastOperation: creating } });

describe('an installation with its own account', () => {
  aroundEachTest(() => startApisWithShippedRights(undefined, 'shoot-flux'), ownDistribution, use);

  it('creates the key pair of a private repository and the status of the project', async () => {
    await stage.setFluxConfig(privateRepository);
    await create();
    await stage.untilReady();
    expect(await keysOfSource()).toEqual(['identity', 'identity.pub', 'known_hosts']);
    await untilLine('bar');
    expect(await eventsOf('CreationRefused')).toEqual([]);
  });
});

describe('an installation with a registration that is older than its chart', () => {
  const start = () => startApisWithShippedRights(withoutReadingEvents, 'extension-shoot-flux-x7k2p');
  aroundEachTest(start, ownDistribution, use);

  it('names the Events that it may not read', async () => {
    await stage.setFluxConfig(privateRepository);
    await create();
    await stage.untilError(secretAwaited);
  });
});

describe('an installation that Gardener lets create nothing in projects', () => {
  aroundEachTest(asRestricted, ownDistribution, use);

  it('says so about flux-source where its users look, and works once a member has created it', async () => {
    await stage.setFluxConfig(privateRepository);
    await create();
    const { description, codes } = await stage.untilError(secretRefused);
    expect({ description, codes }).toEqual({
      description: secretRefused,
      codes: ['ERR_RETRYABLE_CONFIGURATION_PROBLEM'],
    });
    expect(await eventsOf('CreationRefused')).toContainEqual(['ConfigMap', secretRefused]);
    await untilLogged(stage, 'flux-source not created', secretRefused.slice(0, 100));

    // The Event is about a Secret that keys would create.
    await stage.setFluxConfig({ ...privateRepository, repositoryUrl: 'https://github.com/org/fleet' });
    await stage.reconcileShoot();
    await stage.untilError(secretAwaited);
    await stage.setFluxConfig(privateRepository);

    const empty = { apiVersion: 'v1', kind: 'Secret', metadata: source, type: 'Opaque' };
    await stage.garden.create(resources.secrets, empty, person);
    await stage.untilReady();
    // A Shoot is ready with the empty Secret, too, so it does not tell whether the key is there.
    expect(await stage.untilEvent('DeployKey')).toHaveLength(1);
    expect(await keysOfSource()).toEqual(['identity', 'identity.pub', 'known_hosts']);
    await stage.untilBranch('main');
  });

  it('says so about flux-status, holds a rollout, and works once a member has created it with our label', async () => {
    await stage.setFluxConfig(withRollout('one'));
    await stage.deliver();
    await stage.bootstrap();
    const refused = [['Shoot', statusRefused]];
    const events = () => eventsOf('CreationRefused');
    await stage.untilEvent('CreationRefused');
    await untilLogged(stage, 'project status not written');

    await stage.setFluxConfig(withRollout('two'));
    const { message } = await stage.untilCondition('ConfigurationFollowed', statusRefused);
    const kept = 'The last applied configuration is kept until flux-status can hold the rollout: ';
    expect(message.startsWith(`${kept}${statusRefused} (config `)).toBe(true);
    // gardenlet gets its answer meanwhile.
    await stage.deliver();
    expect(branchOf(await stage.inShoot(gitRepositories, 'main-gitrepo'))).toBe('one');
    expect(await events()).toEqual(refused);

    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: statusMap };
    await stage.garden.create(resources.configMaps, map, person);
    await stage.garden.mergePatch(
      resources.configMaps,
      statusMap,
      { metadata: { labels } },
      { fieldManager: 'kubectl-label' },
    );
    await untilLine('bar');
    expect(await eventsOf('NotOurs')).toEqual([]);
    await stage.reconcileShoot();
    await stage.untilBranch('two');
    await stage.untilReady();
    expect((await untilLine('Rollout'))?.Rollout).toContain('Revision ');
  });
});

describe('the status of a project where it may not be created', () => {
  it('is an Event on each Shoot, once, beside the Events about Flux; and no retry follows soon', async () => {
    const apis = await asRestricted();
    const project = await startProject(apis);
    await project.set('one', ready);
    for (const _ of [1, 2]) expect(await project.run('one')).toEqual(requeueAfter(3700));
    await project.set('one', failing);
    expect(await project.run('one')).toEqual(requeueAfter(3700));
    expect((await project.eventsOf('one')).sort()).toEqual([
      `CreationRefused: ${statusRefused}`,
      'FluxNotReady: Flux is not Ready: The quota has no room.',
      'FluxReady: Flux is Ready.',
    ]);
    expect(project.logLines.filter((line) => line.includes('"level":"warn"'))).toHaveLength(3);
    expect(project.logLines.join()).toContain('seed-restriction.gardener.cloud denies it');

    // A failure that may pass becomes an Event in time, although nothing else would cause a run then.
    const mayPass = failing.conditions?.map(({ codes: _, ...condition }) => condition) ?? [];
    await project.set('two', { ...failing, conditions: mayPass });
    project.now = new Date('2026-01-02T03:07:00Z');
    expect(await project.run('two')).toEqual(requeueAfter(180));
    project.now = new Date('2026-01-02T03:10:00Z');
    expect(await project.run('two')).toEqual(requeueAfter(3700));
    expect(await project.eventsOf('two')).toContain('FluxNotReady: Flux is not Ready: The quota has no room.');
    await project[Symbol.asyncDispose]();
    await apis.stop();
  });
});
