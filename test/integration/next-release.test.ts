import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kustomizations } from '@shoot-flux/landscape/flux/objects';
import { testData, testDataMissing } from '@shoot-flux/landscape/test-data';
import { afterAll, describe, expect, it, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { fluxConfigOf, shootFlux, shootOf } from '../../infra/cli/testing.ts';
import { openDistribution } from '../../shared/flux/distribution.ts';
import { readReleaseFiles } from '../../shared/flux/release-files.ts';
import { type Resource, resource } from '../../shared/kube/resource.ts';
import { aroundAllTests } from '../scenarios/around-each-test.ts';
import { publicRepository, type Stage } from '../scenarios/stage.ts';
import { startEmbeddedApis } from './embedded-apis.ts';
import { speedUpTime } from './fast-clock.ts';

speedUpTime();

const releases = testData('flux');
const dir = await mkdtemp(join(tmpdir(), 'next-release-'));
afterAll(() => rm(dir, { recursive: true }));

interface Version {
  name: string;
  storage: boolean;
  schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, Field> } } } };
}
interface Field {
  type?: string;
  properties?: Record<string, Field>;
  items?: Field;
}

const text = { type: 'string' };

/** Kind -> what the minor that does not exist yet makes of its versions: a new one that is stored, or new fields. */
const news: Record<string, (versions: Version[]) => Version[]> = {
  Alert: (versions) => graduated(versions),
  Provider: (versions) => graduated(versions),
  OCIRepository: (versions) =>
    withFields(versions, (spec) => {
      spec.credential = { type: 'object', properties: { type: text } };
    }),
  Kustomization: (versions) =>
    withFields(versions, ({ dependsOn }) => {
      Object.assign(dependsOn?.items?.properties ?? {}, { apiVersion: text, kind: text, ready: { type: 'boolean' } });
    }),
};

function graduated(versions: Version[]): Version[] {
  return versions.flatMap((version) => [
    { ...version, storage: false },
    { ...version, name: 'v1' },
  ]);
}

function withFields(versions: Version[], add: (spec: Record<string, Field>) => void): Version[] {
  for (const { schema } of versions) add(schema.openAPIV3Schema.properties.spec.properties);
  return versions;
}

/** Makes a release of a next minor out of the newest one that there is. @returns the newest one */
async function makeNext(from: string): Promise<string> {
  const [newest = ''] = await openDistribution(from).versions();
  const folder = await mkdtemp(join(dir, 'files-'));
  for (const { name, text } of await readReleaseFiles(join(from, newest))) {
    const objects = parseAllDocuments(text).map((document) => document.toJS());
    for (const { kind, spec } of objects) {
      if (kind === 'CustomResourceDefinition') spec.versions = news[spec.names.kind]?.(spec.versions) ?? spec.versions;
    }
    await writeFile(join(folder, name), objects.map((object) => stringify(object)).join('---\n'));
  }
  const make = (version: string, files: string) =>
    shootFlux([
      'distribution',
      'make',
      '--flux-distribution',
      join(dir, 'made'),
      '--from',
      files,
      '--version',
      version,
    ]);
  expect(await make(newest, join(from, newest))).toMatchObject({ code: 0 });
  expect(await make('v2.10.0', folder)).toMatchObject({ code: 0 });
  return newest;
}

const notification = 'notification.toolkit.fluxcd.io';
const alerts: Resource = resource(notification, 'v1', 'alerts', 'Alert');

/** Objects as their author writes them, in any version of the kind. */
const objects = (version: string) => [
  {
    ...{ apiVersion: `${notification}/${version}`, kind: 'Provider', metadata: { name: 'chat' } },
    spec: { type: 'generic', address: 'https://chat.example.com' },
  },
  {
    ...{ apiVersion: `${notification}/${version}`, kind: 'Alert', metadata: { name: 'all' } },
    spec: { providerRef: { name: 'chat' }, eventSources: [{ kind: 'Kustomization', name: '*' }] },
  },
];
const dependent = {
  kind: 'Kustomization',
  metadata: { name: 'apps' },
  spec: {
    ...{ path: './apps', prune: true, sourceRef: { kind: 'GitRepository', name: 'main-gitrepo' } },
    dependsOn: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'webhook', namespace: 'system', ready: true }],
  },
};
const artifact = {
  kind: 'OCIRepository',
  metadata: { name: 'charts' },
  spec: { interval: '5m', url: 'oci://registry.example.com/charts', credential: { type: 'SpiffeJWT' } },
};
const project = { ...publicRepository, syncMode: 'Reconcile' };
const data = (objects: object[]) => ({ 'config.yaml': stringify({ objects }) });

test.skipIf(releases !== undefined)(testDataMissing, () => {});

describe.skipIf(releases === undefined)(
  'a release of the next minor, of which no file of ours knows anything',
  async () => {
    const newest = releases === undefined ? '' : await makeNext(releases);
    const run = async (command: string, objects: object[], version?: string, kubernetes = '1.36.0') => {
      const config = join(dir, 'flux-config.yaml');
      const shoot = join(dir, 'shoot.yaml');
      await writeFile(config, stringify(fluxConfigOf({ ...(version && { fluxVersion: version }), ...data(objects) })));
      await writeFile(shoot, stringify(shootOf({ kubernetes: { version: kubernetes } })));
      const inputs = ['--flux-distribution', join(dir, 'made'), '--flux-config', config, '--shoot', shoot];
      return shootFlux([command, ...inputs]);
    };

    it.each(['v1', 'v1beta3'])(
      'takes Alerts and Providers that are written as %s, and creates them as v1',
      async (version) => {
        expect(await run('validate', objects(version), '2.10.x')).toMatchObject({ code: 0, err: '' });
        const { out } = await run('render', objects(version), '2.10.x');
        expect(out.match(/^apiVersion: notification.*\nkind: .*$/gm)).toEqual([
          `apiVersion: ${notification}/v1\nkind: Provider`,
          `apiVersion: ${notification}/v1\nkind: Alert`,
        ]);
        expect(out).toContain('app.kubernetes.io/version: v2.10.0');
      },
    );

    it('takes dependencies on any kind and credentials that its CRDs have, while the former release names what it lacks', async () => {
      expect(await run('validate', [dependent, artifact], '2.10.x')).toMatchObject({ code: 0, out: '', err: '' });
      const { code, out } = await run('validate', [dependent, artifact], newest);
      expect(code).toBe(1);
      expect(out).toContain('dependsOn[0].kind cannot be Deployment, because a Kustomization can only wait for other');
      expect(out).toContain(`credential is not a known key in Flux ${newest}`);
    });

    it('supports the next minor of Kubernetes, and is not taken for one that it has dropped', async () => {
      expect(await run('validate', [], undefined, '1.37.0')).toMatchObject({ code: 0, err: '' });
      expect((await run('render', [], undefined, '1.37.0')).out).toContain('app.kubernetes.io/version: v2.10.0');
      expect((await run('render', [], undefined, '1.34.0')).out).toContain(`app.kubernetes.io/version: ${newest}`);
    });

    describe('in a Shoot', () => {
      let stage: Stage;
      aroundAllTests(startEmbeddedApis, join(dir, 'made'), (next) => {
        stage = next;
      });

      it('is planned and delivered as an upgrade', async () => {
        await stage.setFluxConfig({ ...project, fluxVersion: newest, ...data(objects('v1beta3')) });
        await stage.deliver();
        await stage.setFluxConfig({ ...project, fluxVersion: 'v2.10.0', ...data([...objects('v1'), dependent]) });
        await stage.reconcileShoot();
        await stage.until(
          'v2.10.0',
          ({ lastOperation, state }) =>
            lastOperation?.state === 'Succeeded' && state?.applied?.fluxVersion === 'v2.10.0',
        );
        await stage.untilReady();
        expect(await stage.inShoot(alerts, 'all')).toMatchObject({ apiVersion: `${notification}/v1` });
        expect(await stage.specInShoot(kustomizations, 'apps')).toMatchObject(dependent.spec);
      });
    });
  },
);
