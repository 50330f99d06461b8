import { errorMessage, ShootFluxError } from '../../shared/errors.ts';
import { download } from './download.ts';
import { type Option, text, UsageError, type Values } from './option.ts';

/** Flux publishes the assets of a release below this, in a folder with its name. */
const RELEASES = 'https://github.com/fluxcd/flux2/releases/download';

export const fromReleaseOptions = {
  'from-release': text(
    'VERSION',
    'make: download this release and its checksums, instead of --from, --version and --checksums.',
  ),
  'release-url': text('URL', 'make: where --from-release finds the folders of the releases.', { default: RELEASES }),
} as const satisfies Record<string, Option>;

interface Source {
  from?: string;
  version?: string;
  checksums?: string;
}

/**
 * Returns where the files of a release are: in what `--from-release` names, or as given.
 * @throws UsageError when options do not fit together
 */
export function sourceOf(values: Values<typeof fromReleaseOptions> & Source): Source {
  const { from, version, checksums, 'from-release': release, 'release-url': url = RELEASES } = values;
  const given = { from, version, checksums };
  if (release === undefined) {
    if (values['release-url'] !== undefined) {
      throw new UsageError('--release-url has no effect without --from-release; remove it');
    }
    const wrong = [from, checksums].find((path) => path !== undefined && isUrl(path));
    if (wrong !== undefined) throw new UsageError(`${wrong} is not a file; download it, or use --from-release`);
    return values;
  }
  const [surplus] = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (surplus !== undefined) throw new UsageError(`--${surplus} has no effect with --from-release; remove it`);
  const parsed = URL.parse(url);
  const { username, password, search, hash } = parsed ?? {};
  if (!isUrl(url) || parsed === null || [username, password, search, hash].some(Boolean)) {
    throw new UsageError('--release-url is not a URL of https or http without credentials and query');
  }
  const number = release.replace(/^v/, '');
  const folder = `${url.replace(/\/+$/, '')}/v${number}`;
  return {
    from: `${folder}/manifests.tar.gz`,
    version: release,
    checksums: `${folder}/flux_${number}_checksums.txt`,
  };
}

export function isUrl(path: string): boolean {
  return /^https?:\/\//.test(path);
}

/** Downloads a file of a release. @throws ShootFluxError that says what to do */
export async function downloadAsset(url: string, mib: number): Promise<Buffer> {
  try {
    return await download(url, mib);
  } catch (error) {
    const why = errorMessage(error);
    const remedy = url.startsWith(RELEASES)
      ? 'name a release that https://github.com/fluxcd/flux2/releases lists'
      : 'check --release-url, or copy the release there';
    throw new ShootFluxError(
      why === 'HTTP 404'
        ? `${url} does not exist; ${remedy}.`
        : `cannot download ${url}: ${why.replace(/\.$/, '')}; check the network, or download the files of the release elsewhere and pass them with --from and --checksums.`,
    );
  }
}
