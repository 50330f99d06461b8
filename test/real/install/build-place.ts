import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root } from '../../integration/documents.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';
import { installDebian } from '../tools/debian.ts';
import { cacheFolder } from '../tools/tool.ts';
import { OWN, type Registry } from './registry.ts';
import { makeWorkplace, type Workplace, type WorkplaceOptions } from './workplace.ts';

/** The registry that the pages name. */
export const REGISTRY = 'registry.example.com';

/**
 * Makes a workplace with buildah, crane and Helm, in which the pages' registry is one on this machine, and the images
 * that the Containerfile names exist. buildah works without a daemon, in a store of its own.
 */
export async function makeBuildPlace(registry: Registry, options: WorkplaceOptions = {}): Promise<Workplace> {
  await installDebian(['buildah']);
  const workplace = await makeWorkplace(options);
  const { folder, addProgram } = workplace;
  const { host } = registry;
  await addClients(workplace, registry);
  const storage = join(folder, 'bin/storage.conf');
  const registries = join(folder, 'bin/registries.conf');
  await writeFile(storage, storageConf(join(folder, 'store')));
  await writeFile(registries, registriesConf(host));
  await addProgram(
    'buildah',
    `export CONTAINERS_STORAGE_CONF=${storage} CONTAINERS_REGISTRIES_CONF=${registries} STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
PATH=\${PATH#*${folder}/bin:}
case "$*" in *" docker://${REGISTRY}/"*) set -- manifest push --all --tls-verify=false "$4" "docker://${host}/\${4#*/}" ;; esac
exec buildah "$@"`,
  );
  await buildBases(join(folder, 'bin/buildah'), join(folder, 'store/bases'));
  return workplace;
}

/** Adds crane and Helm, which find a registry on this machine under the pages' name for it. */
export async function addClients({ addProgram }: Workplace, { host }: Registry): Promise<void> {
  const { crane, helm } = await buildTools(['crane', 'helm']);
  // These two know no other names for a registry, and it has no certificate.
  await addProgram('crane', `exec ${crane} --insecure ${withHost(host)}`);
  await addProgram(
    'helm',
    `case "$1" in push | pull) exec ${helm} ${withHost(host)} --plain-http ;; *) exec ${helm} "$@" ;; esac`,
  );
}

/** The arguments of a program, with this host as the registry. */
const withHost = (host: string) => `$(printf '%s\\n' "$@" | sed 's|${REGISTRY}|${host}|')`;

const storageConf = (folder: string) =>
  `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/images"\nrunroot = "${folder}/containers"\n`;

/** Where buildah looks for newer images: nothing is fetched from elsewhere. */
function registriesConf(host: string): string {
  return ['docker.io', 'gcr.io']
    .map((prefix) => `[[registry]]\nprefix = "${prefix}"\nlocation = "${host}"\ninsecure = true\n`)
    .join('');
}

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

const architectures = ['amd64', 'arm64'];

/** A file of the repository that names the images which it is built from. */
const CONTAINERFILE = join(root, 'infra/image/Containerfile');

/**
 * Makes the images that the Containerfile names, because no registry can be reached here: a base from Debian's packages,
 * and this Node.js for the platform of this machine.
 * @param buildah a program
 * @param folder an empty folder
 */
async function buildBases(buildah: string, folder: string): Promise<void> {
  const text = await readFile(CONTAINERFILE, 'utf8');
  const build = async (argument: string, containerfile: string, fill: (context: string) => Promise<void>) => {
    const [, name = ''] = new RegExp(`^ARG ${argument}=(.+)$`, 'm').exec(text) ?? [];
    const context = join(folder, argument);
    await mkdir(context, { recursive: true });
    await fill(context);
    await writeFile(join(context, 'Containerfile'), containerfile);
    const platforms = ['--platform', 'linux/amd64,linux/arm64'];
    await runProgram(buildah, ['build', '--timestamp', '0', ...platforms, '--manifest', name, context]);
  };
  await build('BASE_IMAGE', 'FROM scratch\nARG TARGETARCH\nADD $TARGETARCH.tar /\n', async (context) => {
    for (const name of architectures) await cp(await baseArchive(name), join(context, `${name}.tar`));
  });
  await build('NODE_IMAGE', 'FROM scratch\nARG TARGETARCH\nCOPY $TARGETARCH /usr/local/bin/node\n', async (context) => {
    for (const name of architectures)
      await (OWN === `linux/${name}`
        ? cp(process.execPath, join(context, name))
        : writeFile(join(context, name), STAND_IN));
  });
}

/** In place of a Node.js that this machine could not start. */
export const STAND_IN = 'Node.js of another architecture\n';

/** The files of the base; kept with the tools of the tests. */
async function baseArchive(architecture: string): Promise<string> {
  const identity = createHash('sha256').update(PACKAGES).update(HOOK).digest('hex').slice(0, 12);
  const archive = join(cacheFolder(), `base-${identity}-${architecture}.tar`);
  if (existsSync(archive)) return archive;
  await installDebian(['mmdebstrap']);
  await mkdir(dirname(archive), { recursive: true });
  const aside = `${archive}.${process.pid}.tar`;
  const hook = `${archive}.${process.pid}.sh`;
  await writeFile(hook, HOOK);
  const extract = [
    '--variant=extract',
    `--architectures=${architecture}`,
    `--include=${PACKAGES}`,
    '--dpkgopt=path-exclude=/usr/share/doc/*',
  ];
  await runProgram('mmdebstrap', [...extract, `--extract-hook=sh ${hook} "$1"`, 'bookworm', aside]);
  await rm(hook);
  await rename(aside, archive);
  return archive;
}
