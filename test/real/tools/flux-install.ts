import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { buildTools } from './build.ts';

/** One call of Flux's own generator; the options bear the names of `install.Options` of flux2, absent ones its defaults. */
export interface FluxInstallRequest {
  /** Folder with the files of one release; read only. */
  release: string;
  options: {
    Version: string;
    Namespace?: string;
    /** All components, the extra ones too: `ComponentsExtra` is what the command line appends here. */
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

/** What the code of the flux command line itself would install, for each request in order; one process for all. */
export async function fluxInstall(requests: readonly FluxInstallRequest[]): Promise<FluxInstallAnswer[]> {
  const { manifestgen } = await buildTools(['manifestgen']);
  const child = spawn(manifestgen, { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  // A generator that ended early tells why on standard error; that its input broke adds nothing.
  child.stdin.on('error', () => {});
  child.stdin.end(requests.map((request) => `${JSON.stringify(request)}\n`).join(''));
  const [output, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code !== 0) throw new Error(`manifestgen failed: ${complaints}`);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FluxInstallAnswer);
}
