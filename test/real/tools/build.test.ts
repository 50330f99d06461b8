import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fluxInstall } from './flux-install.ts';
import { describeTool, toolNames } from './tool.ts';

const empty = mkdtempSync(join(tmpdir(), 'shoot-flux-build-'));
afterAll(() => rmSync(empty, { recursive: true, force: true }));

/** Runs the build command as on a machine without built tools and without Go. */
function buildWithoutGo(name: string, env: Record<string, string> = {}) {
  return spawnSync(process.execPath, [join(import.meta.dirname, 'build.ts'), name], {
    env: { PATH: empty, SHOOT_FLUX_TOOLS: join(empty, 'tools'), ...env },
    encoding: 'utf8',
  });
}

describe('build of the tools', () => {
  it('reads the package to build from go.mod', async () => {
    for (const name of toolNames) expect((await describeTool(name)).version).toMatch(/^v\d+\.\d+\.\d+$/);
    expect((await describeTool('kube-apiserver')).package).toBe('k8s.io/kubernetes/cmd/kube-apiserver');
    expect((await describeTool('manifestgen')).package).toBe('.');
  });

  it('says what to install when Go is missing', () => {
    const { status, stderr } = buildWithoutGo('etcd');
    expect(status).toBe(1);
    expect(stderr).toMatch(/^etcd v\S+ has to be built and there is no Go: install Go .* KUBEBUILDER_ASSETS .*\.$/m);
    expect(buildWithoutGo('kustomize-controller').stderr).toMatch(/there is no Go: install Go [\d.]+\.$/m);
  });

  it('uses kube-apiserver and etcd from KUBEBUILDER_ASSETS', () => {
    writeFileSync(join(empty, 'etcd'), '');
    expect(buildWithoutGo('etcd', { KUBEBUILDER_ASSETS: empty }).stdout).toBe(`etcd ${join(empty, 'etcd')}\n`);
    const { status, stderr } = buildWithoutGo('kube-apiserver', { KUBEBUILDER_ASSETS: empty });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `KUBEBUILDER_ASSETS is ${empty}, which has no kube-apiserver: correct it or unset it.\n`,
    });
  });

  it("answers every request to Flux's generator, including errors", async () => {
    const nowhere = { release: join(empty, 'nowhere'), options: { Version: 'v1.0.0' } };
    const mistyped = { release: empty, options: { Version: 'v1.0.0', Namspace: 'x' } };
    expect(await fluxInstall([nowhere, mistyped])).toEqual([
      { error: expect.stringContaining('copying the release') },
      { error: expect.stringContaining('unknown field "Namspace"') },
    ]);
  });
});
