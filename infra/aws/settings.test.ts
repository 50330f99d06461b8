import { describe, expect, it } from 'vitest';
import { standIn } from '../../shared/flux/testing.ts';
import { choices } from '../choices.ts';
import type { Terminal, Variables } from '../cli/option.ts';
import { healthOptions, logOptions, serviceOptions, settingsOptions } from '../cli/options.ts';
import { settingsOf } from '../cli/settings.ts';
import { fromAllSources, keyOf, variableOf } from '../cli/sources.ts';
import { files } from '../cli/testing.ts';
import { readEnvironment, readQueueUrlPrefix } from './settings.ts';

const least = { KUBECONFIG_SECRET_PREFIX: 'shoot-flux/dev/keys/' };

describe('environment of a Lambda', () => {
  it('has defaults for optional settings', async () => {
    expect(await readEnvironment({ ...least, GARDEN_IDENTITY: '' })).toEqual({
      kubeconfigSecretPrefix: 'shoot-flux/dev/keys/',
      logLevel: 'info',
      settings: {
        landscape: 'gardener',
        gardenIdentity: undefined,
        seeds: [],
        fluxDistribution: 'flux-distribution',
        shootHealth: false,
        shootAccess: 'external',
        hostKeyScan: { mode: 'on', allow: [], deny: [] },
      },
    });
  });

  it.each([
    [{ KUBECONFIG_SECRET_PREFIX: '' }, 'KUBECONFIG_SECRET_PREFIX is not set'],
    [{ ...least, SHOOT_HEALTH: 'yes' }, 'SHOOT_HEALTH must be one of false, true'],
    [{ ...least, HOST_KEY_SCAN: 'maybe' }, 'HOST_KEY_SCAN must be one of on, listed, off'],
    [{ ...least, HOST_KEY_SCAN_DENY: '10.0.0.0/99' }, 'HOST_KEY_SCAN_DENY: "10.0.0.0/99" is not an address'],
    [{ ...least, LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of'],
  ])('is refused with the name of the wrong variable', async (variables, message) => {
    await expect(readEnvironment(variables)).rejects.toThrow(message);
  });

  it('has seeds with commas between', async () => {
    expect((await readEnvironment({ ...least, SEEDS: 'eu-1, eu-2' })).settings.seeds).toEqual(['eu-1', 'eu-2']);
  });

  it('names the queues', () => {
    expect(readQueueUrlPrefix({ QUEUE_URL_PREFIX: 'https://sqs/1/p-' })).toBe('https://sqs/1/p-');
    expect(() => readQueueUrlPrefix({})).toThrow('QUEUE_URL_PREFIX is not set');
  });
});

describe('the file that CONFIG names', () => {
  const settingsWith = async (CONFIG: string) => (await readEnvironment({ ...least, CONFIG })).settings;

  it('has defaults and policy', async () => {
    const landscape = { defaults: { flux: { version: '2.9.x' } }, policy: { allowedVersions: ['2.9.x'] } };
    await using input = await files({ landscape });
    expect(await settingsWith(input.paths.landscape)).toMatchObject(landscape);
    expect(await settingsWith('')).not.toHaveProperty('policy');
  });

  it.each([
    ['[]', 'is not a JSON object; correct the file of CONFIG.'],
    ['policy: {}', 'which CONFIG names: it is not JSON.'],
    ['{"polcy": {}}', 'has the key "polcy"; on Lambda it may hold defaults and policy.'],
    ['{"policy": {"allowedVersions": []}}', "the landscape's policy: allowedVersions is empty"],
  ])('is refused with %s', async (content, sentence) => {
    await using input = await files({ content });
    await expect(settingsWith(input.paths.content)).rejects.toThrow(sentence);
  });

  it('has to be there', async () => {
    const sentence = 'cannot read /nowhere.json, which CONFIG names: file not found.';
    await expect(settingsWith('/nowhere.json')).rejects.toThrow(sentence);
  });
});

describe('the variables of the command line', () => {
  /** Settings that follow from variables by the options' schema. */
  async function onCommandLine(variables: Variables) {
    const terminal: Terminal = { out() {}, err() {}, stdin: async () => '', environment: variables };
    const values = await fromAllSources({}, { ...settingsOptions, ...healthOptions, ...logOptions }, terminal);
    return (await settingsOf(values, [], variables)).settings;
  }

  const distribution = { FLUX_DISTRIBUTION: standIn.folder };
  const each = Object.entries(choices).flatMap(([flag, words]) =>
    words.map((word) => ({ [variableOf(keyOf(flag, serviceOptions[flag] ?? never(flag)))]: word })),
  );

  it.each([
    {},
    ...each.filter((variables) => variables.HOST_KEY_SCAN !== 'listed'),
    { HOST_KEY_SCAN: 'listed', HOST_KEY_SCAN_ALLOW: '10.0.0.0/8, *.example.org', HOST_KEY_SCAN_DENY: '10.1.0.0/16' },
    { SHOOT_HEALTH: 'true' },
    { SHOOT_HEALTH: 'false' },
    { LANDSCAPE: 'live', GARDEN_IDENTITY: 'garden-1' },
  ])('give a Lambda the same settings: %j', async (variables) => {
    const given = { ...distribution, ...variables };
    expect((await readEnvironment({ ...least, ...given })).settings).toEqual(await onCommandLine(given));
  });

  it('are all that a Lambda reads, beside those of its template', async () => {
    const names = new Set<string>();
    const all = new Proxy<Record<string, string>>(least, {
      get(target, name: string) {
        names.add(name);
        return target[name];
      },
    });
    await readEnvironment(all);
    const ofOptions = Object.entries(serviceOptions).map(([flag, option]) => variableOf(keyOf(flag, option)));
    const own = ['KUBECONFIG_SECRET_PREFIX', 'CLUSTER_AUDIENCE_PREFIX', 'CONFIG'];
    expect([...names].filter((name) => !ofOptions.includes(name)).sort()).toEqual(own.sort());
    for (const flag of Object.keys(settingsOptions).filter((name) => !['defaults', 'policy'].includes(name)))
      expect([...names]).toContain(variableOf(keyOf(flag, serviceOptions[flag] ?? never(flag))));
  });
});

function never(flag: string): never {
  throw new Error(`--${flag} is no option of a service.`);
}
