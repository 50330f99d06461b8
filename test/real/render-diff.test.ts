import { testDataMissing } from '@shoot-flux/landscape/test-data';
import { expect, test } from 'vitest';
import { files, shootFlux } from '../../infra/cli/testing.ts';
import { testDistribution } from '../made-distribution.ts';

const folder = await testDistribution();
if (folder === undefined) test.skip(testDataMissing);

const config = (fluxVersion: string, more: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'flux-config', namespace: 'garden-foo' },
  data: { fluxVersion, repositoryUrl: 'https://git.example.com/fleet', repositoryBranch: 'main', ...more },
});

async function render(data: object, ...more: string[]): Promise<{ out: string; err: string }> {
  await using input = await files({ config: data });
  const { code, out, err } = await shootFlux([
    'render',
    ...['--flux-distribution', folder ?? '', '--flux-config', input.paths.config, ...more],
  ]);
  expect(code).toBe(0);
  return { out, err };
}

test.runIf(folder !== undefined)('an upgrade from v2.7.5 to v2.9.4 shows what matters to a project', async () => {
  const former = await render(config('v2.7.5'));
  await using before = await files({ old: former.out });
  const { out, err } = await render(config('v2.9.4'), '--diff', before.paths.old);
  const lines = out.split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '~ CustomResourceDefinition gitrepositories.source.toolkit.fluxcd.io',
      '    v1 spec.provider.enum: with "aws"',
      '    spec.versions.v1beta2: removed',
      '~ Deployment flux-system/source-controller',
      '    spec.template.spec.containers.manager.image: "ghcr.io/fluxcd/source-controller:v1.7.4" -> "ghcr.io/fluxcd/source-controller:v1.9.4"',
    ]),
  );
  expect(out).not.toMatch(/description: "|controller-gen/);
  expect(out).toMatch(
    /\n0 added, \d+ changed \(\d+ only in labels of the release and in descriptions\), 0 removed, \d+ equal\n$/,
  );
  // A person reads it: two releases apart, and still not longer than this.
  expect(lines.length).toBeLessThan(120);
  const warnings = err.trimEnd().split('\n');
  expect(warnings.length).toBeGreaterThanOrEqual(6);
  for (const warning of warnings) expect(warning).toMatch(/^warning: From Flux v2\.[89]\.0 on .+; .+\.$/);
});

test.runIf(folder !== undefined)('a changed release and a changed configuration are shown together', async () => {
  const former = await render(config('v2.7.5'));
  await using before = await files({ old: former.out });
  const more = { size: 'medium', repositoryBranch: 'next' };
  const { out } = await render(config('v2.9.4', more), '--diff', before.paths.old);
  expect(out).toContain('    spec.template.spec.containers.manager.args: with "--concurrent=10"\n');
  expect(out).toContain('~ GitRepository flux-system/main-gitrepo\n    spec.ref.branch: "main" -> "next"\n');
});
