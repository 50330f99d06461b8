import type { Origin } from '../places.ts';
import { flux } from '../testing.ts';

const place = { object: 'providerConfig', path: 'objects[1]' };

export const listed: Origin = { from: 'providerConfig', isReleased: false, place };
export const release = flux('helm', 'HelmRelease', 'app', { interval: '1h' });
export const chart = flux('source', 'HelmChart', 'app', { chart: 'app' });
export const receiver = flux('notification', 'Receiver', 'app', { secretRef: { name: 'webhook' } });
export const imageRepository = flux('image', 'ImageRepository', 'app', {
  image: 'ghcr.io/org/app',
  secretRef: { name: 'registry' },
});
export const imagePolicy = flux('image', 'ImagePolicy', 'app', { imageRepositoryRef: { name: 'app' } });
export const automation = flux('image', 'ImageUpdateAutomation', 'app', { interval: '1h' });
