import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Entry, tarOf } from '../../infra/cli/tar-testing.ts';
import { downloadTestData, parseChecksums } from './download.ts';

const release = join(standInDistribution.folder, standInDistribution.version);
const crdName = '10-crd-extensions.gardener.cloud_clusters.yaml';
const crd = Buffer.from('kind: CustomResourceDefinition\n');

const releaseUrl = '/fluxcd/flux2/releases/download/v2.9.99/manifests.tar.gz';
const crdUrl = `/gardener/gardener/b312835d17/example/seed-crds/${crdName}`;

let folder: string;
let requests: string[];
let answers: Record<string, (response: ServerResponse) => void>;
const server = createServer((request, response) => {
  requests.push(request.url ?? '');
  const answer = answers[request.url ?? ''];
  if (answer === undefined) response.writeHead(404).end();
  else answer(response);
});

beforeEach(async () => {
  requests = [];
  const archive = gzipSync(tarOf(entriesOf(await releaseFiles())));
  answers = {
    [releaseUrl]: (response) => response.end(archive),
    [crdUrl]: (response) => response.end(crd),
  };
  folder = await mkdtemp(join(tmpdir(), 'test-data-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

describe('npm run test:data', () => {
  it('downloads releases and CRDs whose checksums are pinned, and only once', async () => {
    expect(await download()).toEqual(['flux/v2.9.99', 'gardener']);
    expect(await readFile(join(folder, 'gardener', crdName), 'utf8')).toBe(crd.toString());
    for (const [name, content] of Object.entries(await releaseFiles())) {
      expect(await readFile(join(folder, 'flux/v2.9.99', name), 'utf8')).toBe(content.toString());
    }
    requests = [];
    expect(await download()).toEqual([]);
    expect(requests).toEqual([]);
  });

  it('rejects a file that differs from its checksum, and leaves nothing of its folder', async () => {
    answers[crdUrl] = (response) => response.end('kind: Other\n');
    await expect(download()).rejects.toThrow(/gardener\/10-crd-.*: has checksum [0-9a-f]{64} instead of the pinned /);
    expect(await readdir(folder)).toEqual(['flux']);
    expect(await readdir(join(folder, 'flux'))).toEqual(['v2.9.99']);
  });

  it('rejects a release in which a pinned file is missing', async () => {
    const { 'rbac.yaml': _, ...rest } = await releaseFiles();
    answers[releaseUrl] = (response) => response.end(gzipSync(tarOf(entriesOf(rest))));
    await expect(download()).rejects.toThrow('flux/v2.9.99/rbac.yaml: is missing in the download.');
    expect(await readdir(folder)).toEqual([]);
  });

  it('leaves nothing of a download that is interrupted', async () => {
    answers[releaseUrl] = (response) => {
      response.writeHead(200, { 'content-length': 1_000_000 });
      response.write('the beginning', () => response.destroy());
    };
    await expect(download()).rejects.toThrow(`${releaseUrl}: cannot be downloaded (other side closed).`);
    expect(await readdir(folder)).toEqual([]);
  });

  it('names the address that does not answer', async () => {
    delete answers[releaseUrl];
    await expect(download()).rejects.toThrow(`${releaseUrl}: cannot be downloaded (HTTP 404).`);
    const github = 'http://127.0.0.1:1';
    await expect(download({ github, githubContent: github })).rejects.toThrow(
      /^http:.*: cannot be downloaded \(.+\)\.$/,
    );
  });

  it('has checksums for all files of the releases that the suites use', async () => {
    const checksums = parseChecksums(await readFile(join(import.meta.dirname, 'SHA256SUMS'), 'utf8'));
    const folders = Map.groupBy(checksums, ([path]) => path.replace(/\/[^/]+$/, ''));
    const versions = ['v2.3.0', 'v2.5.1', 'v2.6.4', 'v2.7.5', 'v2.8.8', 'v2.9.2', 'v2.9.4'];
    expect([...folders.keys()]).toEqual([...versions.map((version) => `flux/${version}`), 'gardener']);
    expect([...checksums.values()].filter((sum) => !/^[0-9a-f]{64}$/.test(sum))).toEqual([]);
  });
});

async function download(sources?: { github: string; githubContent: string }): Promise<string[]> {
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const files = Object.entries(await releaseFiles());
  const lines = [
    ...files.map(([name, content]) => `${checksum(content)}  flux/v2.9.99/${name}`),
    `${checksum(crd)}  gardener/${crdName}`,
  ];
  return downloadTestData(folder, parseChecksums(lines.join('\n')), {
    sources: sources ?? { github: url, githubContent: url },
    exists: existsSync,
  });
}

async function releaseFiles(): Promise<Record<string, Buffer>> {
  const names = (await readdir(release)).filter((name) => name.endsWith('.yaml'));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(release, name))])));
}

const checksum = (content: Buffer) => createHash('sha256').update(content).digest('hex');

function entriesOf(files: Record<string, Buffer>): Entry[] {
  return Object.entries(files).map(([name, content]) => ({ name, content }));
}
