import { gitRepositories, kustomizations } from '@shoot-flux/landscape/flux/objects';
import { expect, it } from 'vitest';
import { resources } from '../../shared/kube/resource.ts';
import { stageSuite } from './around-each-test.ts';
import { base64, eventually, inProject, PROJECT } from './stage.ts';

const overrides = ['dev', 'prod'].map((stage) => ({
  selector: { matchLabels: { stage } },
  config: { kustomization: { patch: { spec: { interval: stage === 'dev' ? '1m' : '30m' } } } },
}));

/** Overrides by the labels of Shoots, on embedded or real API servers. */
export const overridesSuite = stageSuite((stage) => {
  const rootSpec = () => stage.specInShoot(kustomizations, 'main-ks');
  const source = inProject('flux-source');
  const contents = async () =>
    Object.values(await stage.managedResources()).map(({ metadata, spec }) => [
      metadata.name,
      spec.secretRefs[0]?.name,
    ]);

  it('a changed label moves a Shoot to another override with one write, and other labels change nothing', async () => {
    await stage.setFluxConfig({
      repositoryUrl: 'https://git.example.com/fleet',
      repositoryPath: `./clusters/\${SHOOT_LABEL_stage}/\${SHOOT_NAME}`,
      // Nothing is released meanwhile.
      syncMode: 'Reconcile',
      'overrides.yaml': JSON.stringify(overrides),
    });
    const labels = { stage: 'dev' };
    await stage.deliver({ metadata: { labels } });
    await stage.bootstrap();
    await stage.quiet();
    expect(await rootSpec()).toMatchObject({ path: './clusters/dev/bar', interval: '1m', prune: true });

    const before = await contents();
    await stage.writeCluster({ metadata: { labels: { ...labels, team: 'blue' } } });
    await stage.quiet();
    expect(await contents()).toEqual(before);
    stage.requests.length = 0;
    // Gardener copies the Shoot to its seed; nothing asks for a reconciliation.
    await stage.writeCluster({ metadata: { labels: { stage: 'prod' } } });
    await eventually('the other override', rootSpec, (spec) => spec?.interval === '30m');
    expect(await rootSpec()).toMatchObject({ path: './clusters/prod/bar', interval: '30m', prune: true });
    await stage.quiet();
    // One content of one ManagedResource: no state between the two overrides was ever written.
    const written = stage.requests.filter(
      ({ method, resource }) => resource.startsWith('managedresources') && !['GET', 'DELETE'].includes(method),
    );
    expect(written.map(({ method }) => method)).toEqual(['PATCH']);

    await stage.writeCluster({ metadata: { labels: {} } });
    const sentence = 'but the Shoot has no value for the label "stage"';
    await stage.until('the error', ({ lastError, conditions }) =>
      [lastError?.description, ...(conditions ?? []).map(({ message }) => message)].some(
        (text) => text?.includes(sentence) === true,
      ),
    );
    expect(await rootSpec()).toMatchObject({ path: './clusters/prod/bar', interval: '30m' });
  });

  it('a list of sources in config.yaml reads with the credentials of the project', async () => {
    await stage.putSecret('garden', source, { username: 'git', password: 'hidden' });
    const spec = (repository: string) => ({
      url: `https://git.example.com/${repository}`,
      ref: { branch: 'main' },
      secretRef: { name: 'flux-source' },
    });
    const config = {
      sources: [
        { template: { kind: 'GitRepository', spec: spec('fleet') } },
        { template: { kind: 'GitRepository', metadata: { name: 'apps' }, spec: spec('apps') } },
      ],
      kustomizations: [{ template: { spec: { path: './' } } }],
    };
    await stage.setFluxConfig({ 'config.yaml': JSON.stringify(config) });
    await stage.deliver();
    expect(await stage.inShoot(resources.secrets, 'flux-source')).toMatchObject({
      data: { username: base64('git'), password: base64('hidden') },
    });
    expect(await stage.inShoot(gitRepositories, 'apps')).toMatchObject({ spec: spec('apps') });
  });

  it('a source in config.yaml waits for credentials, and says which remedy helps there', async () => {
    const waits = (sentence: string) => stage.untilDescribed(`Secret ${PROJECT}/flux-source in the garden ${sentence}`);
    const spec = {
      url: 'ssh://git@git.example.com/fleet',
      ref: { branch: 'main' },
      secretRef: { name: 'flux-source' },
    };
    const config = {
      source: { template: { kind: 'GitRepository', spec } },
      kustomization: { template: { spec: { path: './' } } },
    };
    await stage.setFluxConfig({ 'config.yaml': JSON.stringify(config) });
    await stage.reconcileShoot();
    await waits('does not exist; create it with the credentials that the source needs.');
    await stage.putSecret('garden', source, { identity: 'hidden' });
    await waits('has no known_hosts; add the lines that ssh-keyscan git.example.com prints under this key.');
    await stage.putSecret('garden', source, { identity: 'hidden', known_hosts: 'hidden' });
    await stage.untilReady();
  });

  it('an issue that only the merged layers have is one Event of the Shoot', async () => {
    await stage.setFluxConfig({
      repositoryUrl: 'https://git.example.com/fleet',
      repositoryBranch: 'main',
      tenantDefaultServiceAccount: 'team',
    });
    const rejected = () => stage.untilError('tenantDefaultServiceAccount');
    await stage.reconcileShoot();
    await rejected();
    await stage.untilEvent('InvalidConfiguration');
    stage.requests.length = 0;
    await stage.reconcileShoot();
    await stage.quiet();
    const { description: message } = await rejected();
    expect(await stage.events('InvalidConfiguration')).toMatchObject([
      { involvedObject: { kind: 'Shoot', name: 'bar' }, type: 'Warning', message },
    ]);
    // The same error is not reported once more.
    expect(stage.requests.filter(({ resource, method }) => resource === 'events' && method !== 'GET')).toEqual([]);
  });
});
