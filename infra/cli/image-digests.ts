import { ShootFluxError } from '../../shared/errors.ts';
import { componentsOf } from '../../shared/flux/install.ts';
import type { ImageDigests, Release } from '../../shared/flux/release.ts';
import { list, type Option, type Terminal, text, UsageError, type Values } from './option.ts';
import { readDocument } from './read-file.ts';

export const digestOptions = {
  digests: text(
    'FILE',
    'make: pin the images by the digests of this file: a list "images" as in a kustomization.yaml.',
  ),
  image: list(
    'COMPONENT=DIGEST',
    'make: pin the image of a component, for example source-controller=sha256:…. Repeatable.',
  ),
} as const satisfies Record<string, Option>;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

interface PinnedImage {
  component: string;
  digest: string;
  /** The tag that the digest belongs to, if it is known. */
  tag?: string | undefined;
}

/**
 * Returns the images that the options pin; undefined when they pin none.
 * @throws UsageError or ShootFluxError for a wrong digest
 */
export async function pinnedImages(
  values: Values<typeof digestOptions>,
  terminal: Terminal,
): Promise<PinnedImage[] | undefined> {
  const { digests: file, image = [] } = values;
  if (file === undefined && image.length === 0) return undefined;
  const given = image.map((text) => {
    const [, component = '', digest = ''] = /^([a-z-]+)=(.+)$/.exec(text) ?? [];
    if (!DIGEST.test(digest)) throw new UsageError(`--image ${text} is not of the form COMPONENT=sha256:DIGEST`);
    return { component, digest };
  });
  return [...(file === undefined ? [] : imagesIn(file, await readDocument(file, terminal))), ...given];
}

/** Reads `images` of a kustomization: name, newTag and digest. */
function imagesIn(file: string, document: unknown): PinnedImage[] {
  const { images } = (document ?? {}) as { images?: unknown };
  const wrong = new ShootFluxError(
    `${file} has no list "images" with name and digest (sha256:…); use the form of a kustomization.yaml.`,
  );
  if (!Array.isArray(images) || images.length === 0) throw wrong;
  return images.map((image: Partial<Record<'name' | 'newTag' | 'digest', unknown>> | null) => {
    const { name, newTag, digest } = image ?? {};
    if (typeof name !== 'string' || typeof digest !== 'string' || !DIGEST.test(digest)) throw wrong;
    return { component: name.split('/').at(-1) ?? '', digest, tag: typeof newTag === 'string' ? newTag : undefined };
  });
}

/**
 * Returns the digest of each component's image.
 * @throws ShootFluxError when one has none, a component is unknown, or a digest belongs to another tag
 */
export function digestsFor(release: Release, images: PinnedImage[]): ImageDigests {
  const components = componentsOf(release);
  for (const { component, tag } of images) {
    if (!components.includes(component)) {
      throw new ShootFluxError(
        `${component} is not a component of Flux ${release.version}; its components are ${components.join(', ')}.`,
      );
    }
    const own = tagOf(release, component);
    if (tag !== undefined && tag !== own) {
      throw new ShootFluxError(
        `the digest of ${component} belongs to ${tag}, but Flux ${release.version} has ${own}; use the digests of this release.`,
      );
    }
  }
  const digests = Object.fromEntries(images.map(({ component, digest }) => [component, digest]));
  const missing = components.filter((component) => digests[component] === undefined);
  if (missing.length === 0) return digests;
  throw new ShootFluxError(
    `${missing.join(', ')} of Flux ${release.version} would not be pinned; add a digest for each component.`,
  );
}

interface DeploymentSpec {
  template: { spec: { containers: { image: string }[] } };
}

/** Returns the tag of a component's image in the files of a release. */
export function tagOf(release: Release, component: string): string | undefined {
  const deployment = release.files.get(component)?.find(({ kind }) => kind === 'Deployment');
  const image = (deployment?.spec as DeploymentSpec | undefined)?.template.spec.containers[0]?.image;
  return image?.split(':').at(-1);
}
