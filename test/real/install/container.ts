import { chmod, cp, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { programFolder, type RunningProgram, startProgram } from '../cluster/start.ts';
import type { ImageConfig } from './registry.ts';

/** What is started from an unpacked image. */
export interface Container {
  /** The unpacked image. */
  root: string;
  config: ImageConfig;
  /** Arguments after the entrypoint. */
  args: string[];
  env?: Record<string, string>;
  /** Files or folders of this machine by their path in the container, copied and readable for everyone. */
  mounts?: Record<string, string>;
}

/** Neither that of the image, nor one that any file belongs to. */
export const ANY_UID = 4711;

/** What a container runtime does before the first process starts, as far as it matters here. */
const SCRIPT = `set -e
root=$1 mounts=$2 uid=$3
shift 3
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$mounts" "$root/mnt"
mount -o remount,ro,bind "$root"
exec setpriv --no-new-privs chroot --userspec="$uid:$uid" --groups= "$root" "$@"
`;

/**
 * Starts a container: with the image's entrypoint and environment, on a read-only root, as a user that the image does
 * not know, without groups and privileges, in the network of this machine. Needs root. SIGKILL ends it.
 */
export async function startContainer({
  root,
  config,
  args,
  env = {},
  mounts = {},
}: Container): Promise<RunningProgram> {
  const folder = await programFolder('container');
  const mounted = join(folder, 'mnt');
  await mkdir(mounted);
  for (const [target, source] of Object.entries(mounts)) {
    const path = join(mounted, target.replace(/^\/mnt\//, ''));
    await mkdir(dirname(path), { recursive: true });
    await cp(source, path, { recursive: true });
    await chmod(path, 0o755);
  }
  await chmod(folder, 0o755);
  for (const name of ['dev', 'proc', 'mnt']) await mkdir(join(root, name), { recursive: true });
  const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const command = ['env', '-i', ...config.Env, ...given, 'unshare', '--mount', 'sh', '-c', SCRIPT, 'sh'];
  const [first = '', ...rest] = [...command, root, mounted, String(ANY_UID), ...config.Entrypoint, ...args];
  return startProgram({ name: 'container', command: first, args: rest, folder });
}
