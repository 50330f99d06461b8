import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildTools } from '../tools/build.ts';
import { installDebian } from '../tools/debian.ts';
import { buildBases } from './bases.ts';
import type { Registry } from './registry.ts';
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
case "$#$*" in "2push ${REGISTRY}/"*) set -- push --tls-verify=false "$2" "docker://${host}/\${2#*/}" ;; esac
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
