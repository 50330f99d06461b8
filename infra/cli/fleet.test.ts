// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { expect, test } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { files, fluxConfigOf, shootFlux, shootOf } from './testing.ts';

const shoot = (name: string, labels: object, providerConfig?: object, namespace = 'garden-foo') =>
  shootOf(
    { extensions: [{ type: 'shoot-flux', ...(providerConfig && { providerConfig }) }] },
    { name, namespace, labels },
  );
const fluxConfig = (overrides: string) =>
  fluxConfigOf({ repositoryPath: './${SHOOT_LABEL_stage}', 'overrides.yaml': overrides });
const wrongOverrides =
  '[{ selector: { matchLabels: { stage: dev } }, config: { flux: { logLevel: loud, networkPolicy: 1 } } }]';
const [prod, dev] = [{ stage: 'prod' }, { stage: 'dev' }];

/** Validates a folder with these files. */
async function validate(shoots: Record<string, unknown>, overrides = wrongOverrides, ...args: string[]) {
  await using fleet = await files(shoots);
  await using config = await files({ config: fluxConfig(overrides) });
  const options = ['--flux-distribution', standIn.folder, '--flux-config', config.paths.config, '--fleet', fleet.dir];
  const { out, ...ran } = await shootFlux(['validate', ...options, ...args]);
  return { ...ran, out: out.replaceAll(`${fleet.dir}/`, ''), lines: out.trimEnd().split('\n') };
}

test('validate --fleet prints a line for each Shoot, and fails if one of them has an issue', async () => {
  const noValue =
    'ConfigMap garden-foo/flux-config: repositoryPath uses ${SHOOT_LABEL_stage}, but the Shoot has no value';
  const { code, err, lines } = await validate({
    'a.yaml': shoot('good', prod),
    'b.yaml': shoot('unlabelled', {}),
    'c.json': `${JSON.stringify(shoot('one', prod))}\n---\n${JSON.stringify(shoot('two', dev))}`,
    'd.yml': shoot('typo', prod, { fluxx: {} }),
    'e.yaml': '\tbroken',
    'f.yaml': '\uFFFDk\0i\0n\0d\0',
    'g.yaml': shoot('number', { stage: true }),
    'h.yaml': { ...shoot('half', prod), spec: { resources: [{ name: 'creds' }] } },
    'i.yaml': { kind: 'List', items: [shoot('three', prod), { kind: 'Secret' }, shoot('four', {})] },
    'j.yaml': shoot('elsewhere', dev, {}, 'garden-other'),
    'k.yaml': { ...shoot('off', dev), spec: { extensions: [{ type: 'shoot-flux', disabled: true }] } },
    'config.yaml': fluxConfig(''),
    'notes.txt': 'nothing',
  });
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(lines).toEqual([
    'a.yaml (good): ok',
    expect.stringContaining(`b.yaml (unlabelled): ${noValue}`),
    'c.json (one): ok',
    expect.stringMatching(
      /^c\.json \(two\): ConfigMap garden-foo\/flux-config: overrides\.yaml\[0\]\.config\.flux\.\w+ .* \(and 1 more\)$/,
    ),
    'd.yml (typo): providerConfig: fluxx is not a known key; did you mean flux?',
    expect.stringMatching(/^e\.yaml: .*line 1 is indented with a tab; correct the file\.$/),
    expect.stringMatching(/^f\.yaml: .*f\.yaml is not text in UTF-8; save it in this encoding\.$/),
    'g.yaml (number): g.yaml: metadata.labels.stage must be a string, not a boolean; put it in quotes',
    expect.stringMatching(/^h\.yaml \(half\): h\.yaml: spec\.resources\[0\]\.resourceRef is missing; set it, for/),
    'i.yaml (three): ok',
    expect.stringContaining(`i.yaml (four): ${noValue}`),
    'j.yaml (elsewhere): skipped, because it is in namespace garden-other, and the ConfigMap in garden-foo',
    'k.yaml (off): skipped, because it has the extension disabled',
  ]);
});

test('validate --fleet succeeds if every Shoot is good, and prints JSON on request', async () => {
  const fleet = { 'a.yaml': shoot('good', prod) };
  expect(await validate(fleet, '[]')).toMatchObject({ code: 0, out: 'a.yaml (good): ok\n', err: '' });
  expect(JSON.parse((await validate(fleet, '[]', '--json')).out)).toEqual([{ shoot: 'a.yaml (good)' }]);
});

test('validate --fleet refuses a folder without Shoots, no folder, and a single Shoot', async () => {
  expect(await validate({ 'a.txt': '' })).toMatchObject({
    ...{ code: 1, out: '' },
    err: expect.stringContaining('has no file with a Shoot'),
  });
  expect(await validate({}, '[]', '--fleet', 'nowhere')).toMatchObject({
    ...{ code: 1, out: '' },
    err: expect.stringContaining('cannot read nowhere: folder not found; name a folder of Shoots.'),
  });
  const ran = await shootFlux(
    ['validate', '--flux-distribution', standIn.folder, '--fleet', '.', '--shoot', '-'],
    '{kind: Shoot}',
  );
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('omit --shoot and --provider-config') });
});

test('validate with one Shoot also reports overrides for others', async () => {
  await using input = await files({ config: fluxConfig(wrongOverrides), shoot: shoot('good', prod) });
  const options = ['--flux-config', input.paths.config, '--shoot', input.paths.shoot];
  const { code, out } = await shootFlux(['validate', '--flux-distribution', standIn.folder, ...options]);
  expect(code).toBe(1);
  expect(out).toContain('ConfigMap garden-foo/flux-config: overrides.yaml[0].config.flux.logLevel');
});

test('validate --fleet says of a Shoot that does not list the extension when its line counts', async () => {
  const unlisted = (name: string, labels: object) => ({ ...shoot(name, labels), spec: {} });
  const fleet = { 'a.yaml': unlisted('a', prod), 'b.yaml': unlisted('b', {}) };
  const condition = 'the extension is enabled for all Shoots, because this one does not list it';
  const { code, lines } = await validate(fleet);
  expect(code).toBe(1);
  expect(lines[0]).toBe(`a.yaml (a): ok (if ${condition})`);
  expect(lines[1]?.endsWith(` (if ${condition})`)).toBe(true);
  const json = JSON.parse((await validate(fleet, wrongOverrides, '--json')).out);
  expect(json).toMatchObject([{ condition }, { condition, sentence: expect.any(String) }]);
});

const healthy = { ...prod, 'shoot.gardener.cloud/status': 'healthy' };
const other = shoot('other', { ...prod, team: 'blue' }, {}, 'garden-other');

test.each<[string, Record<string, unknown>, number[]]>([
  ['for each that selects none of its Shoots', { 'a.yaml': shoot('a', healthy), 'b.yaml': other }, [1, 2, 3]],
  ['not where a Shoot with an issue gets it', { 'a.yaml': shoot('a', { ...healthy, team: 'blue' }, { x: 1 }) }, [1, 2]],
  ['not where a file cannot be read', { 'a.yaml': shoot('a', healthy), 'b.yaml': '\tbroken' }, []],
  ['not where a Shoot is not well-formed', { 'a.yaml': shoot('a', healthy), 'b.yaml': shoot('b', { stage: 1 }) }, []],
  ['not where all Shoots are skipped', { 'a.yaml': other }, []],
])('validate --fleet warns of overrides: %s', async (_why, fleet, indices) => {
  const overrides = `
- { selector: { matchLabels: { stage: prod } }, config: {} }
- { selector: { matchLabels: { stage: prd } }, config: {} }
- { selector: { matchLabels: { shoot.gardener.cloud/status: healthy } }, config: {} }
- { selector: { matchExpressions: [{ key: team, operator: Exists }] }, config: {} }
- { selector: {}, config: {} }
`;
  const warnings = indices.map(
    (index) =>
      `warning: ConfigMap garden-foo/flux-config: overrides.yaml[${index}].selector selects no Shoot of the fleet; correct it, unless Shoots get such labels later\n`,
  );
  const { code, err } = await validate(fleet, overrides);
  expect(err).toBe(warnings.join(''));
  if (indices.length === 3) expect(code).toBe(0);
});
