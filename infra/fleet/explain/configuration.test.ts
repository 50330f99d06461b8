import { describe, expect, it } from 'vitest';
import { fluxConfigMapOf } from '../../../shared/config/flux-config-map.ts';
import type { ConfigInputs } from '../../../shared/config/types.ts';
import { explainConfiguration } from './configuration.ts';
import { linkOf } from './link.ts';

const subject = { namespace: 'garden-foo', name: 'bar', flags: [] };
const url = 'https://git.example/foo/fleet.git';
const explained = (inputs: Omit<ConfigInputs, 'fluxConfig'>, data?: Record<string, string>) => {
  const fluxConfig = data && fluxConfigMapOf('garden-foo', { data });
  const { report, values } = explainConfiguration({ shoot: { labels: {} }, ...inputs, fluxConfig }, subject);
  return { ...linkOf('Configuration', report), values };
};
const fluxConfig = (content: object) => ({
  ...{ apiVersion: 'flux.extensions.gardener.cloud/v1alpha1', kind: 'FluxConfig' },
  ...content,
});

describe('the link Configuration', () => {
  it('says so where nobody has configured anything', () => {
    expect(explained({})).toMatchObject({
      mark: 'ok',
      text: expect.stringMatching(/^nobody has configured/),
      values: [],
    });
  });

  it('names the layer of each value, and shows no content that may be a secret', () => {
    const template = { spec: { path: './apps', postBuild: { substitute: { license: 'abc-123' } } } };
    const providerConfig = fluxConfig({
      kustomization: { template },
      flux: { patches: [{ target: { kind: 'Deployment' }, patch: '[{"op":"add","path":"/x","value":"abc-123"}]' }] },
    });
    const { values, ...link } = explained(
      { providerConfig, landscape: { defaults: { flux: { tolerationKeys: ['a', 'b'] } } } },
      { repositoryUrl: url, syncMode: 'Once' },
    );
    const shown = Object.fromEntries(values.map(({ name, value, object }) => [name, [value, object]]));
    expect(shown).toMatchObject({
      'source.spec.url': [url, 'ConfigMap garden-foo/flux-config'],
      kustomization: ['Kustomization flux-system/flux-system', 'providerConfig'],
      'flux.tolerationKeys': ['a, b', expect.stringContaining('defaults')],
      'flux.patches': ['a list of 1', 'providerConfig'],
    });
    expect(JSON.stringify([link, values])).not.toContain('abc-123');
  });

  it.each<[string, Omit<ConfigInputs, 'fluxConfig'>, Record<string, string>, string, string | undefined]>([
    [
      ...(['ConfigMap', {}, { repositoryUrl: url, repositoryTyp: 'private' }] as const),
      ...(['ConfigMap garden-foo/flux-config: repositoryTyp', 'kubectl get configmap flux-config -o yaml'] as const),
    ],
    [
      ...(['providerConfig', { providerConfig: fluxConfig({ syncMode: 'Never' }) }, { repositoryUrl: url }] as const),
      ...(['providerConfig: syncMode', 'kubectl get shoot bar -o yaml'] as const),
    ],
    [
      'Secret',
      { projectSecrets: [{ name: 'flux-sops', namespace: 'garden-foo', problem: 'has no key; add one' }] },
      { repositoryUrl: url },
      'Secret garden-foo/flux-sops has no key; add one.',
      'kubectl describe secret flux-sops',
    ],
  ])('says what is wrong in a %s, and shows it', (_, inputs, data, sentence, command) => {
    const link = explained(inputs, data);
    expect(link.mark).toBe('broken');
    expect(link.sentence).toContain(sentence);
    expect(link.command).toBe(`${command} --namespace garden-foo`);
  });
});
