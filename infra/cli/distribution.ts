import { verificationOf, verifyOptions } from './archive.ts';
import { command } from './command.ts';
import { imagesOptions, inspectDistribution, listImages } from './distribution-inspect.ts';
import { makeRelease } from './distribution-make.ts';
import { mirrorImages, mirrorOptions } from './distribution-mirror.ts';
import { distributionFolder, pushDistribution } from './distribution-oci.ts';
import { fromReleaseOptions, sourceOf } from './from-release.ts';
import { digestOptions, pinnedImages } from './image-digests.ts';
import { missing, text, UsageError } from './option.ts';
import { distributionOptions } from './options.ts';

/** The options that each action takes: one without effect, such as a checksum, would look as if it had been checked. */
const optionsOf = {
  make: [
    'from',
    'version',
    ...Object.keys(fromReleaseOptions),
    ...Object.keys(verifyOptions),
    ...Object.keys(digestOptions),
  ],
  inspect: ['distribution-cache', 'json'],
  images: ['distribution-cache', 'version', ...Object.keys(imagesOptions), 'json'],
  mirror: ['distribution-cache', ...Object.keys(imagesOptions), ...Object.keys(mirrorOptions)],
  push: ['to', 'plain-http'],
} as const satisfies Record<string, string[]>;

type Action = keyof typeof optionsOf;

export default command({
  name: 'distribution',
  summary:
    'Add a Flux release to a distribution folder, show what the folder holds, list its images, mirror them, or push it.',
  positionals: 'make|inspect|images|mirror|push',
  options: {
    ...distributionOptions,
    ...fromReleaseOptions,
    from: text('PATH', 'make: manifests.tar.gz of the release, or a folder with its files.'),
    version: text('VERSION', 'make: the release of --from, for example v2.9.4. images: only this release.'),
    ...verifyOptions,
    ...digestOptions,
    ...imagesOptions,
    ...mirrorOptions,
    json: { type: 'boolean', description: 'inspect, images: print a JSON list.' },
  },
  notes:
    'make writes DIR/VERSION with the files of the release, release.json for a fast start, and SHA256SUMS.\n' +
    'It unpacks an archive only if --sha256 or --checksums match; a signature is verified by cosign, which must be installed.\n' +
    'inspect verifies the checksums. images prints what a mirror needs, by digest where the distribution knows it.\n' +
    'mirror copies these images with crane, which must be installed, for all platforms, and compares the digests; what the registry has\n' +
    'is not copied again. push makes the folder an artifact in a registry with crane, and prints its name with the digest.\n' +
    'Without --from-release, make downloads nothing: manifests.tar.gz is an asset of every Flux release.',
  async run(values, [action, ...others], terminal) {
    const { json = false, 'flux-distribution': dir } = values;
    if (action === undefined || !Object.hasOwn(optionsOf, action)) {
      throw new UsageError('specify "make", "inspect", "images", "mirror" or "push"');
    }
    const own = ['flux-distribution', ...optionsOf[action as Action]];
    const foreign = Object.keys(values).find((name) => !own.includes(name));
    if (foreign !== undefined) throw new UsageError(`--${foreign} has no effect on ${action}; remove it`);
    if (others.length > 0) throw new UsageError(`unexpected argument "${others[0]}"`);
    if (dir === undefined) missing('--flux-distribution DIR');
    const isRead = action !== 'make' && action !== 'push';
    if (!isRead && dir.startsWith('oci://')) throw new UsageError(`${action} needs a folder as --flux-distribution`);
    const folder = isRead ? await distributionFolder(values, terminal.environment) : dir;
    if (action === 'inspect') return inspectDistribution(folder, json, terminal);
    if (action === 'images') return listImages(folder, values, terminal);
    if (action === 'mirror') return mirrorImages(folder, values, terminal);
    if (action === 'push') return pushDistribution(dir, values, terminal);
    const { from, version, checksums } = sourceOf(values);
    if (from === undefined || version === undefined) {
      throw new UsageError('make requires --from-release, or --from and --version');
    }
    const verification = verificationOf({ ...values, ...(checksums !== undefined && { checksums }) });
    const images = await pinnedImages(values, terminal);
    return makeRelease({ dir, from, version, verification, images }, terminal);
  },
});
