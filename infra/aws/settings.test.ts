import { describe, expect, it } from 'vitest';
import { readEnvironment, readQueueUrlPrefix } from './settings.ts';

const least = { KUBECONFIG_SECRET_PREFIX: 'shoot-flux/dev/keys/' };

describe('environment of a Lambda', () => {
  it('has defaults for optional settings', () => {
    expect(readEnvironment({ ...least, GARDEN_IDENTITY: '' })).toEqual({
      kubeconfigSecretPrefix: 'shoot-flux/dev/keys/',
      logLevel: 'info',
      settings: {
        landscape: 'gardener',
        gardenIdentity: undefined,
        seeds: [],
        fluxDistribution: 'flux-distribution',
        shootHealth: false,
        shootAccess: 'external',
        delivery: 'ManagedResource',
        hostKeyScan: { mode: 'on', allow: [], deny: [] },
      },
    });
  });

  it('is read from the variables', () => {
    const { settings } = readEnvironment({
      ...least,
      SEEDS: 'eu-1, eu-2',
      SHOOT_HEALTH: 'true',
      SHOOT_ACCESS: 'internal',
    });
    expect(settings).toMatchObject({ seeds: ['eu-1', 'eu-2'], shootHealth: true, shootAccess: 'internal' });
  });

  it('says which hosts may be scanned', () => {
    const { settings } = readEnvironment({
      ...least,
      HOST_KEY_SCAN: 'listed',
      HOST_KEY_SCAN_ALLOW: '10.0.0.0/8, *.example.org',
      HOST_KEY_SCAN_DENY: '10.1.0.0/16',
    });
    expect(settings.hostKeyScan).toEqual({
      mode: 'listed',
      allow: ['10.0.0.0/8', '*.example.org'],
      deny: ['10.1.0.0/16'],
    });
  });

  it.each([
    [{ KUBECONFIG_SECRET_PREFIX: '' }, 'KUBECONFIG_SECRET_PREFIX is not set'],
    [{ ...least, SHOOT_HEALTH: 'yes' }, 'SHOOT_HEALTH must be one of false, true'],
    [{ ...least, HOST_KEY_SCAN: 'maybe' }, 'HOST_KEY_SCAN must be one of on, listed, off'],
    [{ ...least, HOST_KEY_SCAN_DENY: '10.0.0.0/99' }, 'HOST_KEY_SCAN_DENY: "10.0.0.0/99" is not an address'],
    [{ ...least, LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of'],
  ])('is refused with the name of the wrong variable', (variables, message) => {
    expect(() => readEnvironment(variables)).toThrow(message);
  });

  it('names the queues', () => {
    expect(readQueueUrlPrefix({ QUEUE_URL_PREFIX: 'https://sqs/1/p-' })).toBe('https://sqs/1/p-');
    expect(() => readQueueUrlPrefix({})).toThrow('QUEUE_URL_PREFIX is not set');
  });
});
