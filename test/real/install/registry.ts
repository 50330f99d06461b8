import { mkdir, rm } from 'node:fs/promises';
import { answersOk, startReady } from '../cluster/start.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';

/** An image as a registry has it. */
export interface PulledImage {
  /** Bytes of its layers and its configuration, compressed. */
  bytes: number;
  digest: string;
  config: ImageConfig;
}

export interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Labels: Record<string, string>;
  ExposedPorts: Record<string, object>;
}

/** A registry of container images on this machine, and a client. */
export type Registry = Awaited<ReturnType<typeof startRegistry>>;

/** Starts a registry that forgets everything when it ends. */
export async function startRegistry() {
  const { crane } = await buildTools(['crane']);
  const { program, ports } = await startReady({
    name: 'registry',
    ports: 1,
    prepare: async (_, ports) => ({
      command: crane,
      args: ['registry', 'serve', '--address', `127.0.0.1:${ports[0]}`],
    }),
    ready: (_, ports) => answersOk(`http://127.0.0.1:${ports[0]}/v2/`),
  });
  const ask = (...args: string[]) => runProgram(crane, ['--insecure', ...args]);
  return {
    /** The beginning of its images' names. */
    host: `127.0.0.1:${ports[0]}`,
    /** Reads the size and the configuration of an image. */
    async inspect(image: string): Promise<PulledImage> {
      const { layers, config } = JSON.parse(await ask('manifest', image)) as Manifest;
      const bytes = [config, ...layers].reduce((sum, { size }) => sum + size, 0);
      const { config: found } = JSON.parse(await ask('config', image)) as { config: ImageConfig };
      return { bytes, digest: (await ask('digest', image)).trim(), config: found };
    },
    /** Pulls an image and unpacks it into a new folder. */
    async unpack(image: string, folder: string) {
      const archive = `${folder}.tar`;
      await ask('export', image, archive);
      await mkdir(folder);
      await runProgram('tar', ['--extract', '--file', archive, '--directory', folder]);
      await rm(archive);
    },
    [Symbol.asyncDispose]: () => program.stop(),
  };
}

interface Manifest {
  layers: { size: number }[];
  config: { size: number };
}
