import { expect, test, vi } from 'vitest';
import type { Patch } from '../config/types.ts';
import { fluxInstall, fluxOnly, renderInputs, standInRelease } from '../flux/testing.ts';
import { installGroups } from './install-groups.ts';

/** Returns inputs whose options no other test has. */
function inputsOf(namespace: string, ...patches: Patch[]) {
  const flux = fluxInstall({ namespace, ...(patches.length > 0 && { patches }) });
  return renderInputs({ config: fluxOnly({ flux }) });
}

const onDeployments = (patch: unknown): Patch => ({ target: { kind: 'Deployment' }, patch: JSON.stringify(patch) });
const annotation = (text: string, name = 'text') =>
  onDeployments({ kind: 'any', metadata: { name: 'any', annotations: { [name]: text } } });

test('returns the same lists for all Shoots with the same options', async () => {
  const { crds, controllers } = await installGroups(await renderInputs());
  const other = await installGroups(await renderInputs());
  expect(other.crds).toBe(crds);
  expect(other.controllers).toBe(controllers);
  const changed = [
    await renderInputs({ config: fluxOnly({ flux: fluxInstall({ logLevel: 'debug' }) }) }),
    await renderInputs({ ownsNamespace: false }),
    await renderInputs({ shootHealth: true }),
  ];
  for (const inputs of changed) expect(await installGroups(inputs)).not.toMatchObject({ crds, controllers });
});

test('Shoots that need the same at the same time wait for one result', async () => {
  const inputs = () => inputsOf('at-once', annotation('any'));
  const [one, other] = await Promise.all([installGroups(await inputs()), installGroups(await inputs())]);
  expect(other?.controllers).toBe(one?.controllers);
});

test('all that wait for a result get its error, and so does the next one', async () => {
  const inputs = await inputsOf('wrong', onDeployments([{ op: 'remove', path: '/spec/none' }]));
  const results = await Promise.allSettled([installGroups(inputs), installGroups(inputs)]);
  expect(results).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  await expect(installGroups(inputs)).rejects.toThrow('there is nothing at "/spec/none"');
});

test('an error names the ConfigMap of its own project, also when another project makes the same mistake meanwhile', async () => {
  const inputs = await inputsOf('same-mistake', onDeployments([{ op: 'remove', path: '/spec/none' }]));
  const projects = ['garden-a', 'garden-b'].map((namespace) => ({
    ...inputs,
    config: {
      ...inputs.config,
      origins: { 'flux.patches': { object: `ConfigMap ${namespace}/flux-config`, path: 'x' } },
    },
  }));
  const results = await Promise.allSettled(projects.map(installGroups));
  const objects = results.map((result) => result.status === 'rejected' && result.reason.issues[0].object);
  expect(objects).toEqual(['ConfigMap garden-a/flux-config', 'ConfigMap garden-b/flux-config']);
});

// They add about 30 KB to each Deployment; with aliases, a patch of one KB does so.
const texts = ['one', 'other'].map((name) => annotation('x'.repeat(15_000), name));
const aliases: Patch = {
  target: { kind: 'Deployment' },
  patch: `
- { op: add, path: /spec/a, value: &a [${'{},'.repeat(250)}] }
- { op: add, path: /spec/b, value: &b [${'*a,'.repeat(18)}] }
- { op: add, path: /spec/c, value: *b }
`,
};
test.each([
  ['long texts', texts],
  ['aliases', [aliases]],
])('equal options are rendered once, until patches of others add too much: %s', async (what, patches) => {
  const namespace = `kept-${what.replace(' ', '-')}`;
  const inputs = await inputsOf(namespace, annotation('short'));
  const { controllers } = await installGroups(inputs);
  for (let number = 0; number < 20; number++) await installGroups(await inputsOf(`${namespace}-${number}`));
  expect((await installGroups(inputs)).controllers).toBe(controllers);
  for (let number = 0; number < 20; number++) await installGroups(await inputsOf(`${namespace}-${number}`, ...patches));
  expect((await installGroups(inputs)).controllers).not.toBe(controllers);
});

test('others get their turn after each object that a patch changes', async () => {
  const { files } = await standInRelease();
  const deployments = [...files.values()].flat().filter(({ kind }) => kind === 'Deployment').length;
  const patches = Array.from({ length: 32 }, (_, number) => annotation(`any ${number}`));
  const inputs = await inputsOf('in-turns', ...patches);
  // Each look at the clock takes so long that every second one ends a turn.
  // After the first look it is in the past: the tests that follow share the turns, and none would end one before it.
  let now = -3_600_000;
  vi.spyOn(performance, 'now')
    .mockImplementation(() => (now += 5))
    .mockReturnValueOnce(Number.POSITIVE_INFINITY);
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  await installGroups(inputs);
  clearImmediate(next);
  vi.restoreAllMocks();
  // Each change is one step, and each result another one.
  expect(turns).toBeGreaterThanOrEqual(patches.length * deployments);
});
