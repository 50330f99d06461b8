import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { buildTools } from './build.ts';

/** A call of Flux's own generator. The options have the names of `install.Options` in flux2; absent ones have its defaults. */
export interface FluxInstallRequest {
  /** Folder with the files of one release; never written. */
  release: string;
  options: {
    Version: string;
    Namespace?: string;
    /** All components, including the extra ones, which the command line appends from `ComponentsExtra`. */
    Components?: string[];
    Registry?: string;
    ImagePullSecret?: string;
    WatchAllNamespaces?: boolean;
    NetworkPolicy?: boolean;
    LogLevel?: string;
    ClusterDomain?: string;
    TolerationKeys?: string[];
  };
}

/** What `flux install --export` prints, or why it refuses. */
export type FluxInstallAnswer = { content: string } | { error: string };

/** Returns what the code of the flux CLI would install for each request, in order, from a single process. */
export async function fluxInstall(requests: readonly FluxInstallRequest[]): Promise<FluxInstallAnswer[]> {
  const { manifestgen } = await buildTools(['manifestgen']);
  const child = spawn(manifestgen, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  // A tool that ends early reports the reason on standard error; its broken input pipe adds nothing.
  child.stdin.on('error', () => {});
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const [output, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`manifestgen failed: ${complaints}`);
  const lines = output.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as FluxInstallAnswer);
}
