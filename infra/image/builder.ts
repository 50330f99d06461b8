import { spawn } from 'node:child_process';
import { ShootFluxError } from '../../shared/errors.ts';

/** The programs that can build the image. */
export const builders = ['docker', 'podman', 'buildah'] as const;

export type Builder = (typeof builders)[number];

/** What is built. */
export interface Build {
  tag: string;
  /** Folder with the Containerfile and what it copies. */
  context: string;
  /** Build arguments of the Containerfile. */
  args: Record<string, string>;
  /** Seconds since 1970: the time of the image and of its files. */
  epoch: string;
}

/** Builds the image. */
export async function buildWith(builder: Builder, { tag, context, args, epoch }: Build): Promise<void> {
  const time = builder === 'docker' ? ['--build-arg', `SOURCE_DATE_EPOCH=${epoch}`] : ['--timestamp', epoch];
  const values = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  const file = ['--file', `${context}/Containerfile`];
  await run(builder, ['build', ...time, ...values, ...file, '--tag', tag, context]);
}

/** Runs a command in a new container of the image, and returns what it prints. */
export async function runIn(builder: Builder, tag: string, command: string[]): Promise<string> {
  if (builder !== 'buildah') {
    const [entry = '', ...args] = command;
    return run(builder, ['run', '--rm', '--network=none', `--entrypoint=${entry}`, tag, ...args]);
  }
  const container = (await run(builder, ['from', '--pull-never', tag])).trim();
  try {
    return await run(builder, ['run', container, '--', ...command]);
  } finally {
    await run(builder, ['rm', container]);
  }
}

/** Writes the image to a folder in OCI's layout. */
export async function writeLayout(builder: Builder, tag: string, folder: string): Promise<void> {
  if (builder === 'docker')
    throw new ShootFluxError('docker cannot write an OCI layout; use --builder podman or buildah, or push the image');
  const [, version = 'latest'] = /:([^:/]+)$/.exec(tag) ?? [];
  await run(builder, ['push', tag, `oci:${folder}:${version}`]);
}

/** Pushes the image to the registry that its tag names. */
export async function push(builder: Builder, tag: string, insecure: boolean): Promise<void> {
  await run(builder, ['push', ...(insecure ? ['--tls-verify=false'] : []), tag]);
}

/** @returns standard output */
async function run(command: string, args: string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let messages = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages = (messages + text).slice(-4000);
  });
  const code = await new Promise<number | string | null>((resolve) => {
    child.on('error', ({ message }) => resolve(message));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  if (code === 0) return out;
  throw new ShootFluxError(`${command} ${args[0]} failed (${code}): ${messages || out}`);
}
