import { describe, expect, it } from 'vitest';
import { files } from '../cli/testing.ts';
import { readEnvironment, readQueueUrlPrefix } from './settings.ts';

const least = { KUBECONFIG_SECRET_PREFIX: 'shoot-flux/dev/keys/' };

describe('environment of a Lambda', () => {
  it('has defaults for optional settings', async () => {
    expect(await readEnvironment({ ...least, GARDEN_IDENTITY: '' })).toEqual({
      kubeconfigSecretPrefix: 'shoot-flux/dev/keys/',
      settings: {
        version: expect.any(String),
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
    [{ ...least, SHOOT_HEALTH: 'yes' }, 'SHOOT_HEALTH=yes is not true or false'],
    [{ ...least, HOST_KEY_SCAN: 'maybe' }, 'HOST_KEY_SCAN=maybe is not on, listed or off'],
    [{ ...least, HOST_KEY_SCAN_DENY: '10.0.0.0/99' }, 'HOST_KEY_SCAN_DENY "10.0.0.0/99" is not an address'],
    [
      { ...least, HOST_KEY_SCAN: 'listed' },
      'HOST_KEY_SCAN=listed requires --host-key-scan-allow or HOST_KEY_SCAN_ALLOW',
    ],
    [{ ...least, LOG_LEVEL: 'loud' }, 'LOG_LEVEL=loud is not info, debug, warn or error'],
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
    ['[]', 'is not an object with options as its keys'],
    ['null', 'is not an object with options as its keys'],
    ['policy: {}', 'which CONFIG names: it is not JSON.'],
    ['{"polcy": {}}', 'has an unknown key "polcy"; did you mean "policy"?'],
    ['{"shootHealth": true}', 'has an unknown key "shootHealth"; use one of defaults, policy, rollout, addons'],
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
