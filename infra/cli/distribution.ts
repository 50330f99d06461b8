import { missing } from './clusters.ts';
import { command } from './command.ts';
import { digestOptions, pinnedImages } from './image-digests.ts';
import { UsageError } from './option.ts';
import { verificationOf, verifyOptions } from './verify-archive.ts';

export default command({
  name: 'distribution',
  summary: 'Add a Flux release to a distribution folder, or show what the folder holds.',
  positionals: 'make|inspect',
  options: {
    'flux-distribution': { type: 'string', value: 'DIR', description: 'The distribution folder.', required: true },
    from: {
      type: 'string',
      value: 'PATH',
      description: 'make: manifests.tar.gz of the release, or a folder with its files (required).',
    },
    version: { type: 'string', value: 'VERSION', description: 'make: the release, for example v2.9.4 (required).' },
    ...verifyOptions,
    ...digestOptions,
    json: { type: 'boolean', description: 'inspect: print a JSON list.' },
  },
  notes:
    'make writes DIR/VERSION with the files of the release, release.json for a fast start, and SHA256SUMS.\n' +
    'It unpacks an archive only if --sha256 or --checksums match; a signature is verified by cosign, which must be installed.\n' +
    'inspect verifies the checksums. Nothing is downloaded: manifests.tar.gz is an asset of every Flux release.',
  async run(values, [action, ...others], terminal) {
    const { from, version, json = false, 'flux-distribution': dir } = values;
    if (action !== 'make' && action !== 'inspect') throw new UsageError('specify "make" or "inspect"');
    if (others.length > 0) throw new UsageError(`unexpected argument "${others[0]}"`);
    if (dir === undefined) missing('--flux-distribution DIR');
    if (action === 'inspect') {
      const { inspectDistribution } = await import('./distribution-inspect.ts');
      return inspectDistribution(dir, json, terminal);
    }
    if (from === undefined || version === undefined) throw new UsageError('make requires --from and --version');
    const { makeRelease } = await import('./distribution-make.ts');
    const verification = verificationOf(values);
    const images = await pinnedImages(values, terminal);
    return makeRelease({ dir, from, version, verification, images }, terminal);
  },
});
