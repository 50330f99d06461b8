import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { standIn } from '../../shared/flux/testing.ts';
import { tarOf } from './tar-testing.ts';

type Answers = Record<string, string | Buffer | RequestListener>;

/** Serves the small release as Flux publishes one: at `/v2.9.99/`, with a name of any other version on demand. */
export async function serveRelease(
  changed: Answers = {},
  { version = standIn.version, make = createServer as (listener: RequestListener) => Server, scheme = 'http' } = {},
) {
  const folder = join(standIn.folder, standIn.version);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml'));
  const entries = names.map(async (name) => ({ name, content: await readFile(join(folder, name)) }));
  const archive = gzipSync(tarOf(await Promise.all(entries)));
  const sum = createHash('sha256').update(archive).digest('hex');
  const number = version.slice(1);
  const checksums = `${'0'.repeat(64)}  flux_${number}_linux_amd64.tar.gz\n${sum}  manifests.tar.gz\n`;
  const answers: Answers = { 'manifests.tar.gz': archive, [`flux_${number}_checksums.txt`]: checksums, ...changed };
  const server = make((request, response) => {
    const { url = '' } = request;
    const answer = url.startsWith(`/${version}/`) ? answers[url.slice(version.length + 2)] : undefined;
    if (typeof answer === 'function') answer(request, response);
    else response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sum,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
