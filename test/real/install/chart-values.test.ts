import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { operatorExtension } from '../../../infra/gardener/registration/registration.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { renderChart } from './helm.ts';

const find = (objects: KubeObject[], kind: string): KubeObject => {
  const found = objects.find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`there is no ${kind}`);
  return found;
};
const podOf = (objects: KubeObject[]) =>
  (find(objects, 'Deployment').spec as { template: { spec: object } }).template.spec;
const configOf = (objects: KubeObject[]) =>
  parse((find(objects, 'ConfigMap').data as Record<string, string>)['config.yaml'] ?? '');

describe('admission in one cluster', () => {
  it('is called, and has its rights, in the namespace of the release', async () => {
    const objects = await renderChart({ chart: 'shoot-flux-admission', namespace: 'other' });
    const { name, namespace } = find(objects, 'Service').metadata;
    expect(namespace).toBe('other');
    const webhooks = find(objects, 'ValidatingWebhookConfiguration').webhooks as { clientConfig: object }[];
    for (const { clientConfig } of webhooks) expect(clientConfig).toMatchObject({ service: { name, namespace } });
    const { metadata: account } = find(objects, 'ServiceAccount');
    expect(find(objects, 'ClusterRoleBinding').subjects).toEqual([
      { kind: 'ServiceAccount', name: account.name, namespace: account.namespace },
    ]);
  });

  it('is called in garden where gardener-operator installs the other part', async () => {
    const chart = 'shoot-flux-admission/charts/application';
    const objects = await renderChart({ chart, namespace: 'kube-system' });
    expect(JSON.stringify(find(objects, 'ValidatingWebhookConfiguration'))).toContain(
      'https://shoot-flux-admission.garden.svc/',
    );
  });

  it('enforces the policy of the seeds, with the same image, where gardener-operator installs both parts', async () => {
    const given = {
      image: { repository: 'mirror.example.com/shoot-flux', tag: 'v2' },
      imagePullSecrets: [{ name: 'mirror' }],
      policy: { allowedVersions: ['2.9.x'] },
      config: { defaults: { pullSecret: {} } },
      replicaCount: 1,
    };
    const { spec } = operatorExtension({ version: '0.1.0', registry: 'registry.example.com', values: given });
    const { values } = (spec as { deployment: { admission: { values: Record<string, unknown> } } }).deployment
      .admission;
    const render = (part: string) =>
      renderChart({ chart: `shoot-flux-admission/charts/${part}`, namespace: 'garden', values });
    expect(await render('application')).not.toEqual([]);
    const objects = await render('runtime');
    expect(configOf(objects)).toMatchObject({ policy: given.policy, defaults: given.config.defaults });
    expect(podOf(objects)).toMatchObject({
      containers: [{ image: 'mirror.example.com/shoot-flux:v2' }],
      imagePullSecrets: given.imagePullSecrets,
    });
  });
});
