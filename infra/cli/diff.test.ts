// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { expect, test } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import type { KubeObject } from '../../shared/kube/resource.ts';
import { diffObjects, diffText } from './diff.ts';
import { fluxConfigOf, runWith, shootOf } from './testing.ts';

async function rendered(data: Record<string, string> = {}, more: object = {}, ...args: string[]): Promise<string> {
  const inputs = { 'flux-config': fluxConfigOf(data), shoot: shootOf({}, { labels: { stage: 'dev' } }), ...more };
  const { code, out, err } = await runWith('render', inputs, ...args);
  expect({ code, err: err.replaceAll(/^not shown:.*\n/gm, '') }).toEqual({ code: 0, err: '' });
  return out;
}

test.each([[], ['--json']])('render --diff shows what an edit would do, field by field: %j', async (...format) => {
  const diff = await rendered({}, {}, ...(format as string[]));
  expect(await rendered({}, { diff })).toMatch(/^0 added, 0 changed, 0 removed, \d+ equal\n$/);
  const data = { repositoryBranch: 'next', components: 'source-controller, kustomize-controller' };
  const out = await rendered(data, { diff });
  expect(out).toContain('~ GitRepository flux-system/main-gitrepo\n    spec.ref.branch: "main" -> "next"\n');
  expect(out).toContain('\n- Deployment flux-system/helm-controller\n');
  expect(out).toMatch(/\n- CustomResourceDefinition helmreleases\S+ \(stays in the shoot\)\n/);
  expect(out).toMatch(/\n0 added, \d+ changed, \d+ removed, \d+ equal\n$/);
});

test('render --diff shows what an override does to a Shoot with its labels', async () => {
  const overrides =
    '- { selector: { matchLabels: { stage: dev } }, config: { kustomization: { patch: { spec: { path: "./${SHOOT_NAME}" } } } } }';
  const diff = await rendered();
  expect(await rendered({ 'overrides.yaml': overrides }, { diff })).toMatch(
    /^~ Kustomization flux-system\/main-ks\n {4}spec\.path: "\.\/" -> "\.\/bar"\n0 added, 1 changed, 0 removed, \d+ equal\n$/,
  );
});

test('render --diff warns of what behaves differently with another release', async () => {
  const diff = (await rendered()).replaceAll(standIn.version, 'v2.8.8');
  const { out, err } = await runWith('render', { 'flux-config': fluxConfigOf({}), diff });
  expect(out).toContain('"v2.8.8" -> "v2.9.99"');
  expect(err).toMatch(/^warning: From Flux v2\.9\.0 on .*;.*\.\n/);
});

test('render --diff says how the edit arrives', async () => {
  const rollout = '{ maxInProgress: 20%, maxFailed: 0, order: stage, maintenanceWindow: true }';
  const data = { rollout, syncMode: 'Reconcile' };
  const out = await rendered(data, { diff: await rendered({ repositoryBranch: 'next' }) });
  const sentence =
    'An edit of flux-config reaches at most 20% of the Shoots at a time, in the order of their label stage, in its maintenance window, and pauses when more than 0 are not Ready.\n';
  expect(out).toContain(`\n${sentence}`);
  expect((await rendered(data)).startsWith(`# ${sentence}`)).toBe(true);
});

test.each([
  ['a: b', 'diff holds something other than objects; pass what render has written before.'],
  [
    fluxConfigOf({}),
    'diff holds the ConfigMap flux-config, which is an input of render; run render with it first, and pass what that has written.',
  ],
])('render --diff refuses %j', async (diff, sentence) => {
  expect(await runWith('render', { diff })).toEqual({ code: 1, out: '', err: `shoot-flux render: ${sentence}\n` });
});

const object = (kind: string, fields: object): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a' },
  ...fields,
});
const text = (from: KubeObject, to: KubeObject) =>
  diffText(diffObjects([from], [to]), 1)
    .split('\n')
    .slice(1, -2);

test('the content of a Secret is never shown', () => {
  const secret = (password: string) => object('Secret', { data: { password } });
  const changes = diffObjects([secret('MARKED-old')], [secret('MARKED-new')]);
  expect(JSON.stringify(changes)).not.toContain('MARKED');
  expect(diffText(changes, 1)).toContain('data.password: "(not shown)" -> "(not shown)"');
});

test.each<[string, object, object, string[]]>([
  ['a new field', {}, { a: { b: 1 } }, ['    spec.a: added {"b":1}']],
  ['a field with the name of a method', {}, { constructor: 'x' }, ['    spec.constructor: added "x"']],
  ['a removed field', { a: 'x' }, {}, ['    spec.a: removed, was "x"']],
  [
    'arguments',
    { args: ['--log-level=debug', '--a', '--b=1'] },
    { args: ['--log-level=error', '--c=1'] },
    [
      '    spec.args: "--log-level=debug" -> "--log-level=error"',
      ...['without "--a"', 'without "--b=1"', 'with "--c=1"'].map((text) => `    spec.args: ${text}`),
    ],
  ],
  ['another order', { args: ['--a', '--b'] }, { args: ['--b', '--a'] }, ['    spec.args: in another order']],
  [
    'a container after a new one',
    { containers: [{ name: 'manager', image: 'a' }] },
    { containers: [{ name: 'new' }, { name: 'manager', image: 'b' }] },
    ['    spec.containers.manager.image: "a" -> "b"', '    spec.containers.new: added {"name":"new"}'],
  ],
  ['a long value', { a: 'x'.repeat(300) }, { a: 'y' }, [`    spec.a: "${'x'.repeat(99)}... -> "y"`]],
])('shows %s in one line', (_what, from, to, lines) => {
  expect(text(object('Thing', { spec: from }), object('Thing', { spec: to }))).toEqual(lines);
});

test('names at most thirty fields of an object', () => {
  const fields = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, 1]));
  const lines = text(object('Thing', { spec: { a: 1 } }), object('Thing', { spec: { a: 1, ...fields } }));
  expect(lines).toHaveLength(31);
  expect(lines.at(-1)).toBe('    and 10 more fields');
});

test('another API version of an object is a change of the same object', () => {
  const at = (version: string) => ({
    ...object('Kustomization', {}),
    apiVersion: `kustomize.toolkit.fluxcd.io/${version}`,
  });
  expect(diffObjects([at('v1beta2')], [at('v1')])).toMatchObject([
    { type: 'changed', fields: [{ path: 'apiVersion' }] },
  ]);
});

const crd = (...versions: object[]) =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'alerts' },
    spec: { versions },
  }) as KubeObject;
const version = (name: string, spec: object) => ({
  name,
  schema: { openAPIV3Schema: { properties: { spec: { properties: spec } } } },
});

test('a CRD shows the fields of its kind as users write them, without descriptions', () => {
  const before = crd(version('v1', { a: { enum: ['x'], description: 'old' } }), version('v1beta1', {}));
  const after = crd(version('v1', { a: { enum: ['x', 'y'], description: 'new' } }));
  expect(diffText(diffObjects([before], [after]), 1)).toBe(
    '~ CustomResourceDefinition alerts\n' +
      '    v1 spec.a.enum: with "y"\n' +
      '    spec.versions.v1beta1: removed\n' +
      '0 added, 1 changed, 0 removed, 0 equal\n',
  );
});

test('objects of which only labels of the release and descriptions change are counted', () => {
  const before = crd(version('v1', { a: { description: 'old' } }));
  const after = crd(version('v1', { a: { description: 'new' } }));
  const labelled = (object: KubeObject, release: string) => ({
    ...object,
    metadata: { ...object.metadata, labels: { 'app.kubernetes.io/version': release } },
  });
  expect(diffText(diffObjects([labelled(before, 'v1')], [labelled(after, 'v2')]), 1)).toBe(
    '0 added, 1 changed (1 only in labels of the release and in descriptions), 0 removed, 0 equal\n',
  );
});
