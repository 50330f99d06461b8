import { command, UsageError } from './command.ts';

export default command({
  name: 'distribution',
  summary: 'Make a distribution folder from the files of a Flux release, or tell what one holds.',
  positionals: 'make|inspect',
  options: {
    'flux-distribution': { type: 'string', value: 'DIR', description: 'The distribution folder.' },
    from: {
      type: 'string',
      value: 'PATH',
      description: 'make: manifests.tar.gz of a release, or a folder with its files.',
    },
    version: { type: 'string', value: 'VERSION', description: 'make: the release, for example v2.9.4.' },
    json: { type: 'boolean', description: 'inspect: print a JSON list.' },
  },
  notes:
    'make writes DIR/VERSION with the files of the release and their SHA256SUMS; inspect verifies the checksums.\n' +
    'Nothing is downloaded: manifests.tar.gz is an asset of every release of Flux.',
  async run(values, [action, ...others], terminal) {
    const { from, version, json = false, 'flux-distribution': dir } = values;
    if (action !== 'make' && action !== 'inspect') throw new UsageError('say whether to make or to inspect');
    if (others.length > 0) throw new UsageError(`"${others[0]}" is one argument too many`);
    if (dir === undefined) throw new UsageError('--flux-distribution is missing');
    if (action === 'inspect') {
      const { inspectDistribution } = await import('./distribution-inspect.ts');
      return inspectDistribution(dir, json, terminal);
    }
    if (from === undefined || version === undefined) throw new UsageError('make needs --from and --version');
    const { makeRelease } = await import('./distribution-make.ts');
    return makeRelease({ dir, from, version }, terminal);
  },
});
