import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { installDebian } from '../tools/debian.ts';
import { cacheFolder } from '../tools/tool.ts';

const run = promisify(execFile);

/** What a base needs: libc, libstdc++, and the certificates of public authorities. No shell. */
const PACKAGES = 'libc6,libstdc++6,ca-certificates';

/** Maintainer scripts do not run, so this does their work, and records the packages as images without dpkg do. */
const HOOK = `set -eu
mkdir -p "$1/var/lib/dpkg/status.d"
for deb in "$1"/var/cache/apt/archives/*.deb; do
  dpkg-deb --field "$deb" > "$1/var/lib/dpkg/status.d/$(dpkg-deb --field "$deb" Package)"
done
cat "$1"/usr/share/ca-certificates/mozilla/*.crt > "$1/etc/ssl/certs/ca-certificates.crt"
printf 'ID=debian\\nVERSION_ID="12"\\n' > "$1/etc/os-release"
`;

/** buildah without a daemon, in a store of its own. */
export interface Store {
  /** For every process that uses it. */
  env: Record<string, string>;
}

/** Makes an empty store in a folder. */
export async function makeStore(folder: string): Promise<Store> {
  const config = join(folder, 'storage.conf');
  await mkdir(folder, { recursive: true });
  await writeFile(
    config,
    `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/images"\nrunroot = "${folder}/containers"\n`,
  );
  return { env: { CONTAINERS_STORAGE_CONF: config, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' } };
}

/** Builds `localhost/base` and `localhost/node`: no registry can be reached here. */
export async function buildBases({ env }: Store, folder: string): Promise<void> {
  const build = async (name: string, containerfile: string, fill: (context: string) => Promise<void>) => {
    const context = join(folder, name);
    await mkdir(context, { recursive: true });
    await fill(context);
    await writeFile(join(context, 'Containerfile'), containerfile);
    const args = ['build', '--timestamp', '0', '--tag', `localhost/${name}:test`, context];
    await run('buildah', args, { env: { ...process.env, ...env } });
  };
  const archive = await baseArchive();
  await build('base', 'FROM scratch\nADD base.tar /\n', (context) => cp(archive, join(context, 'base.tar')));
  await build('node', 'FROM scratch\nCOPY node /usr/local/bin/node\n', (context) =>
    cp(process.execPath, join(context, 'node')),
  );
}

/** The files of the base; kept with the tools of the tests. */
async function baseArchive(): Promise<string> {
  const identity = createHash('sha256').update(PACKAGES).update(HOOK).digest('hex').slice(0, 12);
  const archive = join(cacheFolder(), `base-${identity}.tar`);
  if (existsSync(archive)) return archive;
  await installDebian(['mmdebstrap']);
  await mkdir(dirname(archive), { recursive: true });
  const aside = `${archive}.${process.pid}.tar`;
  const hook = `${archive}.${process.pid}.sh`;
  await writeFile(hook, HOOK);
  const extract = ['--variant=extract', `--include=${PACKAGES}`, '--dpkgopt=path-exclude=/usr/share/doc/*'];
  await run('mmdebstrap', [...extract, `--extract-hook=sh ${hook} "$1"`, 'bookworm', aside], { maxBuffer: 64_000_000 });
  await rename(aside, archive);
  return archive;
}
