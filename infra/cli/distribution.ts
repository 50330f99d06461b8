import { verificationOf, verifyOptions } from './archive.ts';
import { command } from './command.ts';
import { imagesOptions, inspectDistribution, listImages } from './distribution-inspect.ts';
import { makeRelease } from './distribution-make.ts';
import { digestOptions, pinnedImages } from './image-digests.ts';
import { missing, text, UsageError } from './option.ts';

/** The options that each action takes: one without effect, such as a checksum, would look as if it had been checked. */
const optionsOf: Record<'make' | 'inspect' | 'images', string[]> = {
  make: ['from', 'version', ...Object.keys(verifyOptions), ...Object.keys(digestOptions)],
  inspect: ['json'],
  images: ['version', ...Object.keys(imagesOptions), 'json'],
};

export default command({
  name: 'distribution',
  summary: 'Add a Flux release to a distribution folder, show what the folder holds, or list its images.',
  positionals: 'make|inspect|images',
  options: {
    'flux-distribution': text('DIR', 'The distribution folder.', { required: true }),
    from: text('PATH', 'make: manifests.tar.gz of the release, or a folder with its files (required).'),
    version: text('VERSION', 'make: the release, for example v2.9.4 (required). images: only this release.'),
    ...verifyOptions,
    ...digestOptions,
    ...imagesOptions,
    json: { type: 'boolean', description: 'inspect, images: print a JSON list.' },
  },
  notes:
    'make writes DIR/VERSION with the files of the release, release.json for a fast start, and SHA256SUMS.\n' +
    'It unpacks an archive only if --sha256 or --checksums match; a signature is verified by cosign, which must be installed.\n' +
    'inspect verifies the checksums. images prints what a mirror needs, by digest where the distribution knows it, for example for\n' +
    '"xargs -n 2 crane copy" with --to. Nothing is downloaded: manifests.tar.gz is an asset of every Flux release.',
  async run(values, [action, ...others], terminal) {
    const { from, version, json = false, 'flux-distribution': dir } = values;
    if (action !== 'make' && action !== 'inspect' && action !== 'images') {
      throw new UsageError('specify "make", "inspect" or "images"');
    }
    const foreign = Object.keys(values).find((name) => !['flux-distribution', ...optionsOf[action]].includes(name));
    if (foreign !== undefined) throw new UsageError(`--${foreign} has no effect on ${action}; remove it`);
    if (others.length > 0) throw new UsageError(`unexpected argument "${others[0]}"`);
    if (dir === undefined) missing('--flux-distribution DIR');
    if (action === 'inspect') return inspectDistribution(dir, json, terminal);
    if (action === 'images') return listImages(dir, values, terminal);
    if (from === undefined || version === undefined) throw new UsageError('make requires --from and --version');
    const verification = verificationOf(values);
    const images = await pinnedImages(values, terminal);
    return makeRelease({ dir, from, version, verification, images }, terminal);
  },
});
