import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { describe, expect, it } from 'vitest';
import { type Clusters, useClusters } from '../doctor/testing.ts';
import { RUN_USER } from '../gardener/rbac.ts';
import { files, shootFlux } from './testing.ts';

const roleOf = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };

let clusters: Clusters;
useClusters((started) => {
  clusters = started;
});

const doctor = (...args: string[]) => shootFlux(['doctor', ...args]);

describe('shoot-flux doctor', () => {
  it('is content with the shipped rights', async () => {
    const { paths } = clusters;
    const args = ['--garden', paths.garden, '--seed', `aws=${paths.seed}`];
    const { code, out, err } = await doctor(
      ...args,
      '--webhook-port',
      '0',
      '--shoot-health',
      '--namespace',
      'aws=shoot-flux',
    );
    expect(err).toBe('');
    expect(out).toContain(`✔ garden credentials: The garden accepts the credentials of ${RUN_USER}.\n`);
    expect(out).toContain('✔ aws clock: ');
    expect(out).toMatch(/✔ aws rights: The credentials have all \d\d rights that the functions need\.\n/);
    expect(out).not.toMatch(/✗ .* (credentials|clock|rights): /);
    expect(code).toBe(1);
  });

  it('names exactly the right that is missing, and the parts that need it', async () => {
    const { garden, seed, paths } = clusters;
    const without = (api: KubeApi, role: string, resource: string) => {
      const named = { ...roleOf, metadata: { name: `extensions.gardener.cloud:shoot-flux:${role}` } };
      const rules = api.objects.get(named).rules as { resources: string[] }[];
      api.objects.patch(named, { rules: rules.filter(({ resources }) => !resources.includes(resource)) });
    };
    without(seed, 'managed-resources', 'deployments');
    without(garden, 'project-status', 'shoots');
    const { code, out } = await doctor('--garden', paths.garden, '--seed', `aws=${paths.seed}`);
    const lines = out.split('\n');
    expect(
      lines.filter((line, index) => line.includes(' rights: ') || lines[index - 1]?.includes(' rights: ')),
    ).toEqual([
      '✗ garden rights: The credentials may not get shoots.core.gardener.cloud in all namespaces, as project-status must.',
      `    kubectl apply --server-side -f infra/gardener/rbac-garden.yaml --kubeconfig ${paths.garden}  # and bind its roles to ${RUN_USER}`,
      '✗ aws rights: The credentials may not patch deployments.apps gardener-resource-manager in all namespaces, as managed-resources must.',
      `    kubectl apply --server-side -f infra/gardener/rbac-seed.yaml --kubeconfig ${paths.seed}  # and bind its roles to ${RUN_USER}`,
    ]);
    expect(code).toBe(1);
  });

  it('says in one line that credentials have no right', async () => {
    const { paths } = clusters;
    const { code, out } = await doctor('--garden', paths.nobody);
    expect(out).toMatch(/^✗ garden rights: The credentials have none of the \d\d rights that the functions need\.$/m);
    expect(code).toBe(1);
  });

  it('takes the config file of the deployment, and changes nothing', async () => {
    const { garden, seed, paths } = clusters;
    await using written = await files({
      config: { garden: paths.garden, seeds: { aws: paths.seed }, webhookPort: 9443 },
    });
    const apis = [garden, seed];
    for (const { requests } of apis) requests.length = 0;
    const { out } = await doctor('--config', written.paths.config);
    expect(out).toContain('✗ garden webhooks: The garden has no ValidatingWebhookConfiguration');
    expect(out).toContain('✔ aws rights: ');
    const writes = apis
      .flatMap(({ requests }) => requests)
      .filter(({ verb, method }) => verb !== 'create' && method !== 'GET');
    const reviews = apis.flatMap(({ requests }) => requests).filter(({ verb }) => verb === 'create');
    expect(writes).toEqual([]);
    expect([...new Set(reviews.map(({ path }) => path))]).toEqual([
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    ]);
  });

  it('has a form for programs', async () => {
    const { paths } = clusters;
    const { out } = await doctor('--garden', paths.garden, '-o', 'json');
    const { apiVersion, kind, items, counts } = JSON.parse(out);
    expect([apiVersion, kind]).toEqual(['shoot-flux/v1', 'Doctor']);
    expect(items[0]).toEqual({
      ...{ place: 'garden', check: 'credentials', verdict: '✔' },
      sentence: `The garden accepts the credentials of ${RUN_USER}`,
    });
    expect(Object.keys(counts)).toEqual(['✔', '✗', '!']);
  });

  it.each<['stranger' | 'down', string]>([
    ['stranger', 'The garden does not accept the credentials of'],
    ['down', 'The garden does not answer, so nothing else of it was checked'],
  ])('examines the seeds where the credentials of the garden are those of %s', async (who, sentence) => {
    const { paths } = clusters;
    const { code, out } = await doctor('--garden', paths[who], '--seed', `aws=${paths.seed}`);
    expect(out).toContain(`✗ garden credentials: ${sentence}`);
    expect(out).toContain('✔ aws rights: ');
    expect(code).toBe(3);
  });

  it.each([
    [[], 'option --garden KUBECONFIG is required'],
    [['--garden', 'g', '-o', 'wide'], '-o wide is not table, json or yaml'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await doctor(...args);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });
});
