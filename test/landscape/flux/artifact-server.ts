import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { seconds } from '../controllers/time.ts';

/** `status.artifact` of a source. */
export interface Artifact {
  digest: string;
  lastUpdateTime: string;
  path: string;
  revision: string;
  size: number;
  url: string;
}

export interface ArtifactServer {
  /** @param path `gitrepository/<namespace>/<name>/<commit>.tar.gz` */
  put(path: string, revision: string, content: Buffer): Artifact;
  has(path: string): boolean;
  /** Removes all artifacts below a path. */
  remove(prefix: string): void;
  stop(): Promise<void>;
}

/** Serves artifacts over plain HTTP, as source-controller's storage does. They are lost on stop, as with its emptyDir. */
export async function startArtifactServer(): Promise<ArtifactServer> {
  const contents = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const content = contents.get((request.url ?? '').slice(1));
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': 'application/gzip' }).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    put(path, revision, content) {
      contents.set(path, content);
      const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
      const lastUpdateTime = seconds(Date.now());
      return { digest, lastUpdateTime, path, revision, size: content.length, url: `http://127.0.0.1:${port}/${path}` };
    },
    has: (path) => contents.has(path),
    remove(prefix) {
      for (const path of contents.keys()) if (path.startsWith(prefix)) contents.delete(path);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
