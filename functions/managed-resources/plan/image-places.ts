import type { EffectiveConfig } from '../../../shared/config/types.ts';
import type { ImagePlaces } from '../../../shared/gardener/types.ts';

/**
 * Returns where the options are written that decide from where images are pulled, so that `readiness` can say what to
 * correct. Those with their default are nowhere.
 */
export function imagePlaces({ origins, flux }: Pick<EffectiveConfig, 'origins' | 'flux'>): ImagePlaces | undefined {
  const changesImages = flux.patches?.some(({ patch }) => /\bimage/i.test(patch)) === true;
  const options: (keyof ImagePlaces)[] = [
    'registry',
    'imagePullSecret',
    ...(changesImages ? ['patches' as const] : []),
  ];
  const places: ImagePlaces = {};
  for (const option of options) {
    const origin = origins[`flux.${option}`];
    if (origin !== undefined) places[option] = { object: origin.object, path: origin.path };
  }
  return Object.keys(places).length === 0 ? undefined : places;
}
