import { issueOf } from '../config/origins.ts';
import { quote } from '../config/quote.ts';
import type { EffectiveConfig } from '../config/types.ts';
import type { ConfigIssue } from '../errors.ts';
import { textAt } from '../shapes.ts';
import type { Shoot } from './types.ts';

/** As images and the URLs of sources name it; it has no IPv6 addresses. */
const GHCR = /^(?:oci:\/\/)?ghcr\.io(?:\/|$)/i;

/** Returns a warning for each image and source on ghcr.io, where the Shoot has only IPv6 addresses. */
export function ipv6Warnings({ flux, source, objects, origins }: EffectiveConfig, shoot: Shoot): ConfigIssue[] {
  const { ipFamilies } = shoot.spec?.networking ?? {};
  if (!Array.isArray(ipFamilies) || ipFamilies.join() !== 'IPv6') return [];
  const places: [path: string, value: string | undefined][] = [
    ['flux.registry', flux.registry],
    ['source.spec.url', textAt(source?.spec, 'url')],
    // An ImageRepository has an image, the kinds of sources have a URL.
    ...objects.flatMap(({ spec }, index): [string, string | undefined][] =>
      ['url', 'image'].map((field) => [`objects[${index}].spec.${field}`, textAt(spec, field)]),
    ),
  ];
  return places.flatMap(([path, value = '']) => {
    if (!GHCR.test(value)) return [];
    const message = `${quote(value)} is on ghcr.io, which has no IPv6 addresses, and the Shoot has no others; name a mirror, unless the network of the Shoot translates addresses`;
    return [issueOf(origins, path, message)];
  });
}
