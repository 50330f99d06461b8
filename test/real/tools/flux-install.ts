import { ask } from './ask.ts';

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
export function fluxInstall(requests: readonly FluxInstallRequest[]): Promise<FluxInstallAnswer[]> {
  return ask<FluxInstallAnswer>('manifestgen', requests);
}
