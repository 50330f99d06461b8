import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { testData } from '@shoot-flux/landscape/test-data';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kubeconfigOf } from '../../../infra/cli/testing.ts';
import { followPage } from '../../integration/followed-page.ts';
import { withTestData } from '../on-real-apis.ts';
import { buildTools } from '../tools/build.ts';
import { type Registry, startRegistry } from './registry.ts';
import { makeWorkplace, type Workplace } from './workplace.ts';

withTestData('docs/howto/distribution-in-a-registry.md, followed with a registry', () => {
  const page = followPage('docs/howto/distribution-in-a-registry.md');
  let registry: Registry;
  let workplace: Workplace;

  const shell = (text: string) => workplace.run(text.replaceAll('registry.example.com', registry.host));
  const pushed = async () => (await readFile(join(workplace.folder, 'distribution.txt'), 'utf8')).trim();

  beforeAll(async () => {
    const { crane } = await buildTools(['crane']);
    registry = await startRegistry();
    workplace = await makeWorkplace({ release: testData('flux', 'v2.9.4') });
    await workplace.addProgram('crane', `exec ${crane} "$@"`);
    const make = 'npm run --silent shoot-flux -- distribution make --flux-distribution ./distribution';
    await workplace.run(`${make} --from manifests.tar.gz --version v2.9.4`);
  });

  afterAll(async () => {
    await workplace?.remove();
    await registry?.[Symbol.asyncDispose]();
  });

  /** Starts `serve`, which needs no cluster for that. @returns what it says first */
  async function started(distribution: string, cache: string): Promise<string> {
    const { folder } = workplace;
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(kubeconfigOf()));
    const clusters = ['--garden', 'kubeconfig', '--seed', 'local=kubeconfig'];
    const from = ['--flux-distribution', distribution, '--distribution-cache', cache];
    const args = ['infra/cli/shoot-flux.js', 'serve', 'readiness', ...clusters, ...from];
    const env = { ...process.env, PORT: '0', K_SINK: 'http://127.0.0.1:1/broker' };
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
    const ended = once(child, 'exit');
    try {
      child.stderr.setEncoding('utf8');
      return ((await once(child.stderr, 'data')) as [string])[0];
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
  }

  it('is pushed, with the same digest again, and inspected', async () => {
    await page.follow('Push it', shell);
    const name = await pushed();
    expect(name).toMatch(/^oci:\/\/127\.0\.0\.1:\d+\/flux\/distribution@sha256:[0-9a-f]{64}$/);
    await page.follow('Push it', shell);
    expect(await pushed()).toBe(name);
    expect(await page.follow('Read it', shell)).toMatch(/^v2\.9\.4 {2}sha256 \w{12}, checksums verified, /);
  });

  it('is signed, and verified, under the name that a registry knows', async () => {
    // Neither Sigstore nor a browser is here.
    await workplace.addProgram('cosign', 'echo "$@"');
    const name = (await pushed()).replace('oci://', '');
    expect((await page.follow('Sign it', shell)).trim().split('\n')).toEqual([
      `sign ${name}`,
      expect.stringMatching(
        new RegExp(`^verify ${name} --certificate-identity https://\\S+ --certificate-oidc-issuer https://`),
      ),
    ]);
  });

  it('is what a process starts with, also a second time without the registry', async () => {
    const name = await pushed();
    expect(await started(name, 'fresh')).toContain('serves readiness for local with Flux v2.9.4');
    const gone = name.replace(registry.host, '127.0.0.1:2');
    expect(await started(gone, 'fresh')).toContain('serves readiness for local with Flux v2.9.4');
    expect(await started(gone, 'empty')).toMatch(
      /cannot read oci:\/\/127\.0\.0\.1:2\/flux\/distribution@sha256:\w+: .*ECONNREFUSED/,
    );
  });

  it('does not start where the registry answers with a layer that was changed', async () => {
    const tampering = createServer(async ({ url, headers }, response) => {
      const { accept = '' } = headers;
      const answer = await fetch(`http://${registry.host}${url}`, { headers: { accept } });
      const content = Buffer.from(await answer.arrayBuffer());
      if (url?.includes('/blobs/')) content.writeUInt8(content.readUInt8(100) ^ 1, 100);
      response.writeHead(answer.status).end(content);
    });
    await once(tampering.listen(0, '127.0.0.1'), 'listening');
    const { port } = tampering.address() as AddressInfo;
    const name = (await pushed()).replace(registry.host, `127.0.0.1:${port}`);
    try {
      expect(await started(name, 'tampered')).toMatch(
        /what the registry answers for sha256:\w+ is something else; check/,
      );
    } finally {
      tampering.closeAllConnections();
      tampering.close();
    }
  });

  it('is not pushed where the registry is gone', async () => {
    const push = 'npm run --silent shoot-flux -- distribution push --flux-distribution ./distribution';
    await expect(workplace.run(`${push} --to oci://127.0.0.1:1/flux/distribution:stable`)).rejects.toThrow(
      /cannot push \.\/distribution to oci:\/\/127\.0\.0\.1:1\/flux\/distribution:stable: .*connection refused; check that the registry/,
    );
  });
});
