// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the configuration look like those of JavaScript
import { describe, expect, test } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { files, shootFlux } from './testing.ts';

const shoot = (name: string, labels: Record<string, string>, providerConfig?: object) => ({
  kind: 'Shoot',
  metadata: { name, namespace: 'garden-foo', labels },
  spec: { extensions: [{ type: 'shoot-flux', ...(providerConfig && { providerConfig }) }] },
});
const fluxConfig = {
  kind: 'ConfigMap',
  metadata: { name: 'flux-config', namespace: 'garden-foo' },
  data: {
    repositoryUrl: 'https://git.example/foo/fleet',
    repositoryPath: './${SHOOT_LABEL_stage}',
    'overrides.yaml':
      '[{ selector: { matchLabels: { stage: dev } }, config: { flux: { logLevel: loud, networkPolicy: 1 } } }]',
  },
};

const withOverrides = (text: string) => ({ ...fluxConfig, data: { ...fluxConfig.data, 'overrides.yaml': text } });

const folder = () =>
  files({
    'a.yaml': shoot('good', { stage: 'prod' }),
    'b.yaml': shoot('unlabelled', {}),
    'c.json': `${JSON.stringify(shoot('one', { stage: 'prod' }))}\n---\n${JSON.stringify(shoot('two', { stage: 'dev' }))}`,
    'd.yml': shoot('typo', { stage: 'prod' }, { fluxx: {} }),
    'e.yaml': '\tbroken',
    'f.yaml': '\uFFFDk\0i\0n\0d\0',
    'config.yaml': fluxConfig,
    'notes.txt': 'nothing',
  });

const validate = (dir: string, config: string, ...args: string[]) =>
  shootFlux(['validate', '--flux-distribution', standIn.folder, '--flux-config', config, '--fleet', dir, ...args]);

test('validate --fleet prints a line for each Shoot, and fails if one of them has an issue', async () => {
  await using fleet = await folder();
  const { code, out, err } = await validate(fleet.dir, fleet.paths['config.yaml']);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(out.trimEnd().split('\n')).toEqual([
    'a.yaml (good): ok',
    expect.stringMatching(
      /^b\.yaml \(unlabelled\): ConfigMap garden-foo\/flux-config: repositoryPath uses \$\{SHOOT_LABEL_stage\}, but the Shoot has no value/,
    ),
    'c.json (one): ok',
    expect.stringMatching(
      /^c\.json \(two\): ConfigMap garden-foo\/flux-config: overrides\.yaml\[0\]\.config\.flux\.\w+ .* \(and 1 more\)$/,
    ),
    'd.yml (typo): providerConfig: fluxx is not a known key; did you mean flux?',
    expect.stringMatching(/^e\.yaml: .*line 1 is indented with a tab; correct the file\.$/),
    expect.stringMatching(/^f\.yaml: .*f\.yaml is not text in UTF-8; save it in this encoding\.$/),
  ]);
});

test('validate --fleet checks the others when a Shoot is not well-formed, and reads a List of kubectl', async () => {
  const labels = { stage: true } as unknown as Record<string, string>;
  await using fleet = await files({
    'a.yaml': shoot('number', labels),
    'b.yaml': { ...shoot('half', { stage: 'prod' }), spec: { resources: [{ name: 'creds' }] } },
    'c.yaml': { kind: 'List', items: [shoot('one', { stage: 'prod' }), { kind: 'Secret' }, shoot('two', {})] },
  });
  await using config = await files({ config: fluxConfig });
  const { code, out, err } = await validate(fleet.dir, config.paths.config);
  expect({ code, err }).toEqual({ code: 1, err: '' });
  expect(out.trimEnd().split('\n')).toEqual([
    'a.yaml (number): a.yaml: metadata.labels.stage must be a string, not a boolean; put it in quotes',
    expect.stringMatching(
      /^b\.yaml \(half\): b\.yaml: spec\.resources\[0\]\.resourceRef is missing; set it, for example /,
    ),
    'c.yaml (one): ok',
    expect.stringMatching(/^c\.yaml \(two\): ConfigMap garden-foo\/flux-config: repositoryPath uses /),
  ]);
});

test('validate --fleet succeeds if every Shoot is good, and prints JSON on request', async () => {
  await using fleet = await files({ 'a.yaml': shoot('good', { stage: 'prod' }) });
  await using config = await files({ config: withOverrides('[]') });
  expect(await validate(fleet.dir, config.paths.config)).toEqual({ code: 0, out: 'a.yaml (good): ok\n', err: '' });
  const { out } = await validate(fleet.dir, config.paths.config, '--json');
  expect(JSON.parse(out)).toEqual([{ shoot: 'a.yaml (good)' }]);
});

test.each([
  ['a folder without Shoots', async () => (await files({ 'a.txt': '' })).dir, 'has no file with a Shoot'],
  ['no folder', async () => 'nowhere', 'cannot read nowhere: folder not found; name a folder of Shoots.'],
])('validate --fleet refuses %s', async (_what, dir, sentence) => {
  await using config = await files({ config: fluxConfig });
  expect(await validate(await dir(), config.paths.config)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining(sentence),
  });
});

test('validate --fleet takes no single Shoot', async () => {
  await using fleet = await folder();
  expect(await validate(fleet.dir, fleet.paths['config.yaml'], '--shoot', fleet.paths['a.yaml'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('omit --shoot and --provider-config'),
  });
});

test('validate with one Shoot also reports overrides for others', async () => {
  await using input = await folder();
  const options = ['--flux-config', input.paths['config.yaml'], '--shoot', input.paths['a.yaml']];
  const { code, out } = await shootFlux(['validate', '--flux-distribution', standIn.folder, ...options]);
  expect(code).toBe(1);
  expect(out).toContain('ConfigMap garden-foo/flux-config: overrides.yaml[0].config.flux.logLevel');
});

test('validate --fleet skips Shoots of other projects, and those that have the extension disabled', async () => {
  const other = shoot('elsewhere', { stage: 'dev' });
  const disabled = shoot('off', { stage: 'dev' });
  await using fleet = await files({
    'a.yaml': { ...other, metadata: { ...other.metadata, namespace: 'garden-other' } },
    'b.yaml': { ...disabled, spec: { extensions: [{ type: 'shoot-flux', disabled: true }] } },
  });
  await using config = await files({ config: fluxConfig });
  expect(await validate(fleet.dir, config.paths.config)).toEqual({
    code: 0,
    out:
      'a.yaml (elsewhere): skipped, because it is in namespace garden-other, and the ConfigMap in garden-foo\n' +
      'b.yaml (off): skipped, because it has the extension disabled\n',
    err: '',
  });
});

test('validate --fleet says of a Shoot that does not list the extension when its line counts', async () => {
  const unlisted = (name: string, labels: Record<string, string>) => ({ ...shoot(name, labels), spec: {} });
  await using fleet = await files({ 'a.yaml': unlisted('a', { stage: 'prod' }), 'b.yaml': unlisted('b', {}) });
  await using config = await files({ config: fluxConfig });
  const condition = 'the extension is enabled for all Shoots, because this one does not list it';
  const { code, out } = await validate(fleet.dir, config.paths.config);
  expect(code).toBe(1);
  const [a, b] = out.trimEnd().split('\n');
  expect(a).toBe(`a.yaml (a): ok (if ${condition})`);
  expect(b).toMatch(/^b\.yaml \(b\): ConfigMap garden-foo\/flux-config: repositoryPath uses /);
  expect(b?.endsWith(` (if ${condition})`)).toBe(true);
  const json = JSON.parse((await validate(fleet.dir, config.paths.config, '--json')).out);
  expect(json).toMatchObject([{ condition }, { condition, sentence: expect.any(String) }]);
});

describe('validate --fleet warns of an override', () => {
  const overrides = withOverrides(`
- { selector: { matchLabels: { stage: prod } }, config: {} }
- { selector: { matchLabels: { stage: prd } }, config: {} }
- { selector: { matchLabels: { shoot.gardener.cloud/status: healthy } }, config: {} }
- { selector: { matchExpressions: [{ key: team, operator: Exists }] }, config: {} }
- { selector: {}, config: {} }
`);
  const warning = (index: number) =>
    `warning: ConfigMap garden-foo/flux-config: overrides.yaml[${index}].selector selects no Shoot of the fleet; correct it, unless Shoots get such labels later\n`;
  const labels = { stage: 'prod', 'shoot.gardener.cloud/status': 'healthy' };
  const elsewhere = { ...shoot('other', { stage: 'prod', team: 'blue' }) };
  const other = { ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'garden-other' } };

  test('that selects none of its Shoots, and succeeds', async () => {
    await using fleet = await files({ 'a.yaml': shoot('a', labels), 'b.yaml': other });
    await using config = await files({ config: overrides });
    const { code, out, err } = await validate(fleet.dir, config.paths.config);
    expect({ code, err }).toEqual({ code: 0, err: [1, 2, 3].map(warning).join('') });
    expect(out).toMatch(/^a\.yaml \(a\): ok\nb\.yaml \(other\): skipped, .*\n$/);
    const json = await validate(fleet.dir, config.paths.config, '--json');
    expect(JSON.parse(json.out)).toHaveLength(2);
  });

  test('but not if a Shoot with an issue gets it', async () => {
    await using fleet = await files({ 'a.yaml': shoot('a', { ...labels, team: 'blue' }, { fluxx: {} }) });
    await using config = await files({ config: overrides });
    expect(await validate(fleet.dir, config.paths.config)).toMatchObject({ code: 1, err: warning(1) + warning(2) });
  });

  test.each([
    ['a file cannot be read', { 'a.yaml': shoot('a', labels), 'b.yaml': '\tbroken' }],
    ['a Shoot is not well-formed', { 'a.yaml': shoot('a', labels), 'b.yaml': shoot('b', { stage: 1 as never }) }],
    ['all Shoots are skipped', { 'a.yaml': other }],
  ])('but not where %s', async (_why, shoots: Record<string, unknown>) => {
    await using fleet = await files(shoots);
    await using config = await files({ config: overrides });
    expect(await validate(fleet.dir, config.paths.config)).toMatchObject({ err: '' });
  });
});
