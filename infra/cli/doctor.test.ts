import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { type KubeApi, startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterEach, describe, expect, it } from 'vitest';
import { kubeconfigOf } from '../../shared/kube/testing.ts';
import { findAllDefinitions } from '../functions.ts';
import { RUN_USER, rbacObjects } from '../gardener/rbac.ts';
import { files, shootFlux } from './testing.ts';

const apiGroup = 'rbac.authorization.k8s.io';

/** The shipped roles, all bound to the user of `run`. */
async function rolesOf(place: 'garden' | 'seed') {
  const objects = rbacObjects(await findAllDefinitions(), place);
  const subjects = [{ kind: 'User', apiGroup, name: RUN_USER }];
  return objects.map((object) => (object.kind.endsWith('Binding') ? { ...object, subjects } : object));
}

const roleOf = { apiVersion: `${apiGroup}/v1`, kind: 'ClusterRole' };

async function startCluster(place: 'garden' | 'seed', objects: object[] = []): Promise<KubeApi> {
  const crds = place === 'garden' ? gardenCrds() : seedCrds();
  const tokens = { 'run-token': { name: RUN_USER }, 'nobody-token': { name: 'nobody' } };
  return startKubeApi({
    ...{ authorization: 'RBAC', tokens },
    objects: [...crds, ...(await rolesOf(place)), ...objects] as never[],
  });
}

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

function own<T extends AsyncDisposable>(one: T): T {
  running.push(one);
  return one;
}

async function landscape() {
  const [garden, seed] = [own(await startCluster('garden')), own(await startCluster('seed'))];
  const kubeconfig = ({ url, ca }: KubeApi, token: string) =>
    kubeconfigOf({ token }, { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') });
  const { paths } = own(
    await files({
      garden: kubeconfig(garden, 'run-token'),
      seed: kubeconfig(seed, 'run-token'),
      nobody: kubeconfig(garden, 'nobody-token'),
      stranger: kubeconfig(garden, 'stranger-token'),
      down: kubeconfigOf(),
    }),
  );
  return { garden, seed, paths };
}

const doctor = (...args: string[]) => shootFlux(['doctor', ...args]);

describe('shoot-flux doctor', () => {
  it('is content with the shipped rights', async () => {
    const { paths } = await landscape();
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
    expect(out).not.toContain('✗');
    expect(code).toBe(0);
  });

  it('names exactly the right that is missing, and the parts that need it', async () => {
    const { garden, seed, paths } = await landscape();
    const without = (api: KubeApi, role: string, resource: string) => {
      const named = { ...roleOf, metadata: { name: `extensions.gardener.cloud:shoot-flux:${role}` } };
      const rules = api.objects.get(named).rules as { resources: string[] }[];
      api.objects.patch(named, { rules: rules.filter(({ resources }) => !resources.includes(resource)) });
    };
    without(seed, 'managed-resources', 'deployments');
    without(garden, 'project-status', 'shoots');
    const { code, out } = await doctor('--garden', paths.garden, '--seed', `aws=${paths.seed}`);
    expect(out.split('\n').filter((line) => /^✗| {4}/.test(line))).toEqual([
      '✗ garden rights: The credentials may not get shoots.core.gardener.cloud in all namespaces, as project-status must.',
      `    kubectl --kubeconfig ${paths.garden} apply --server-side -f infra/gardener/rbac-garden.yaml  # and bind its roles to ${RUN_USER}`,
      '✗ aws rights: The credentials may not patch deployments.apps gardener-resource-manager in all namespaces, as managed-resources must.',
      `    kubectl --kubeconfig ${paths.seed} apply --server-side -f infra/gardener/rbac-seed.yaml  # and bind its roles to ${RUN_USER}`,
    ]);
    expect(code).toBe(1);
  });

  it('says in one line that credentials have no right', async () => {
    const { paths } = await landscape();
    const { code, out } = await doctor('--garden', paths.nobody);
    expect(out).toMatch(/^✗ garden rights: The credentials have none of the \d\d rights that the functions need\.$/m);
    expect(code).toBe(1);
  });

  it('has a form for programs', async () => {
    const { paths } = await landscape();
    const { out } = await doctor('--garden', paths.garden, '-o', 'json');
    const { apiVersion, kind, items, counts } = JSON.parse(out);
    expect([apiVersion, kind]).toEqual(['shoot-flux/v1', 'Doctor']);
    expect(items[0]).toEqual({
      ...{ place: 'garden', check: 'credentials', verdict: '✔' },
      sentence: `The garden accepts the credentials of ${RUN_USER}`,
    });
    expect(counts['✗']).toBe(0);
  });

  it.each<['stranger' | 'down', string]>([
    ['stranger', 'The garden does not accept the credentials of'],
    ['down', 'The garden does not answer, so nothing else of it was checked'],
  ])('examines the seeds where the credentials of the garden are those of %s', async (who, sentence) => {
    const { paths } = await landscape();
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
