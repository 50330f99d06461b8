import { type GitServer, startGitServer } from '@shoot-flux/landscape/git';
import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { RECONCILE_AT } from '../../shared/config/project-config.ts';
import { resources } from '../../shared/kube/resource.ts';
import { documented, exampleWith } from '../integration/documents.ts';
import { testDistribution } from '../made-distribution.ts';
import { eventually, PROJECT } from '../scenarios/stage.ts';
import { ageKey } from './age-key.ts';
import { type RealApis, startRealApis } from './apis.ts';
import { seedCrds } from './cluster/crds.ts';
import { encrypted } from './sync/encrypt.ts';
import { startFluxStage } from './sync/flux-stage.ts';

const fluxDistribution = await testDistribution();
const isComplete = fluxDistribution !== undefined && seedCrds() !== undefined;
const encrypt = documented('docs/howto/sops.md', 'sops encrypt --in-place secret.yaml');
const sopsRules = exampleWith('docs/howto/sops.md', 'creation_rules');
const inDefault = (name: string) => ({ namespace: 'default', name });
const inProject = (name: string) => ({ namespace: PROJECT, name });
const annotation = (name: string) => `flux.extensions.gardener.cloud/${name}`;

test.skipIf(isComplete)(testDataMissing, () => {});

describe.skipIf(!isComplete)('rotations with the real controllers of Flux and intervals of an hour', () => {
  let apis: RealApis;
  let git: GitServer;

  beforeAll(async () => {
    [apis, git] = await Promise.all([startRealApis(), startGitServer()]);
  });

  afterAll(async () => {
    await Promise.all([apis?.stop(), git?.stop()]);
  });

  it('a new deploy key, a new SOPS key, a new variable and a request count at once, without a failure', async () => {
    await using flux = await startFluxStage(apis, fluxDistribution ?? '');
    const { stage, attempts } = flux;
    const [first, next] = [ageKey(), ageKey()];
    const encryptedFor = ({ recipient }: { recipient: string }, name: string) =>
      encrypted({ command: encrypt, rules: sopsRules.replace(/age1\w+/, recipient) }, name, { password: 'sesame' });
    const repository = await git.createRepository('rotated', {
      'settings.yaml': configMap('settings', { team: '$' + '{team}' }),
      'first.yaml': await encryptedFor(first, 'first'),
    });
    const arrived = (kind: 'configMaps' | 'secrets', name: string) =>
      eventually(
        `${name} is in the shoot`,
        () => stage.shoot.find(resources[kind], inDefault(name)),
        (live) => live !== undefined,
      ).catch(async (error) => {
        throw new Error(`${error.message}\n${(await attempts.failed()).join('\n')}`);
      });
    const source = () => stage.garden.find(resources.secrets, inProject('flux-source'));
    const keyNamed = async (name: string) =>
      (
        await eventually(
          name,
          async () => (await source())?.metadata.annotations?.[annotation(name)],
          (line) => line !== undefined,
        )
      )?.toString() ?? '';
    const annotate = (annotations: Record<string, string>) =>
      stage.garden.mergePatch(
        resources.configMaps,
        inProject('flux-config'),
        { metadata: { annotations } },
        { fieldManager: 'person' },
      );

    await flux.put('flux-sops', { 'first.agekey': first.identity });
    await flux.put('flux-variables', { team: 'blue' });
    await stage.setFluxConfig({
      ...{ repositoryUrl: repository.sshUrl, repositoryBranch: 'main', repositoryType: 'private' },
      ...{ knownHosts: git.knownHosts, repositoryInterval: '1h', kustomizationInterval: '1h' },
    });
    const formerKey = await keyNamed('public-key');
    git.addDeployKey(repository.name, formerKey);
    await stage.reconcileShoot();
    await stage.untilReady();
    await arrived('secrets', 'first');

    // The former key is refused from now on, so the commit arrives only with the new one.
    await annotate({ 'gardener.cloud/operation': 'rotate-ssh-keypair-start' });
    git.addDeployKey(repository.name, await keyNamed('next-public-key'));
    git.removeDeployKey(repository.name, formerKey);
    await repository.commit({ 'deploy-key.yaml': configMap('deploy-key') }, 'For another deploy key');
    await annotate({ 'gardener.cloud/operation': 'rotate-ssh-keypair-complete' });
    await arrived('configMaps', 'deploy-key');

    await repository.commit({ 'next.yaml': await encryptedFor(next, 'next') }, 'For another key of SOPS');
    await flux.put('flux-sops', { 'first.agekey': first.identity, 'next.agekey': next.identity });
    await arrived('secrets', 'next');

    await flux.put('flux-variables', { team: 'green' });
    await eventually(
      'the new variable',
      async () => (await stage.shoot.find(resources.configMaps, inDefault('settings')))?.data,
      (data) => (data as { team?: string })?.team === 'green',
    );

    await repository.commit({ 'project.yaml': configMap('of-the-project') }, 'On request of the project');
    await annotate({ [RECONCILE_AT]: 'once' });
    await arrived('configMaps', 'of-the-project');
    await repository.commit({ 'shoot.yaml': configMap('of-the-shoot') }, 'On request of the Shoot');
    await stage.reconcileShoot({ metadata: { annotations: { [RECONCILE_AT]: 'once more' } } });
    await arrived('configMaps', 'of-the-shoot');
    expect(await attempts.failed()).toEqual([]);
  });
});

function configMap(name: string, data: Record<string, string> = { a: 'b' }): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data });
}
