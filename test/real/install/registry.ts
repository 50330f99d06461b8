import { mkdir, rm } from 'node:fs/promises';
import { answersOk, startReady } from '../cluster/start.ts';
import { buildTools } from '../tools/build.ts';
import { runProgram } from '../tools/cache.ts';

/** The platform of this machine. */
export const OWN = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;

/** An image as a registry has it. */
export interface PulledImage {
  /** Bytes of its layers and its configuration, compressed. */
  bytes: number;
  /** Of the index. */
  digest: string;
  platforms: string[];
  architecture: string;
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
    /** Reads an image, and the size and the configuration that it has for a platform. */
    async inspect(image: string, platform = OWN): Promise<PulledImage> {
      const { manifests } = JSON.parse(await ask('manifest', image)) as Index;
      const { layers, config } = JSON.parse(await ask('manifest', '--platform', platform, image)) as Manifest;
      const { config: found, architecture } = JSON.parse(await ask('config', '--platform', platform, image));
      return {
        bytes: [config, ...layers].reduce((sum, { size }) => sum + size, 0),
        digest: (await ask('digest', image)).trim(),
        platforms: manifests.map(({ platform: { os, architecture } }) => `${os}/${architecture}`),
        architecture,
        config: found,
      };
    },
    /** Pulls an image for a platform and unpacks it into a new folder. */
    async unpack(image: string, folder: string, platform = OWN) {
      const archive = `${folder}.tar`;
      await ask('export', '--platform', platform, image, archive);
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

interface Index {
  manifests: { platform: { os: string; architecture: string } }[];
}
