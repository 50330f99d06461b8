import { describe, expect, it } from 'vitest';
import { isReserved } from '../../../shared/config/checks.ts';
import type { ManagedFields } from '../../../shared/kube/resource.ts';
import { adoptedMetadata } from './adopt.ts';
import { foreignFlux, HELM_RELEASE, KUSTOMIZE, leftAlone, MANAGED_BY, OPERATOR } from './installed-flux.ts';

const fluxLabels = { 'app.kubernetes.io/part-of': 'flux', 'app.kubernetes.io/version': 'v2.8.8' };

describe('foreignFlux', () => {
  it.each<[string, Record<string, string>, Record<string, string>?]>([
    ['Kustomization /flux-system, as flux bootstrap creates it', { 'kustomize.toolkit.fluxcd.io/name': 'flux-system' }],
    ['Helm', { 'app.kubernetes.io/managed-by': 'Helm' }],
    ['Helm release "flux"', {}, { 'meta.helm.sh/release-name': 'flux' }],
    ['flux-operator', { 'app.kubernetes.io/managed-by': 'flux-operator' }],
    ['FluxInstance /flux of flux-operator', { 'fluxcd.controlplane.io/name': 'flux' }],
    ['"argocd"', { 'app.kubernetes.io/managed-by': 'argocd' }],
  ])('knows %s by its mark', (manager, labels, annotations) => {
    expect(foreignFlux({ labels: { ...fluxLabels, ...labels }, annotations: annotations ?? {} })).toBe(manager);
  });

  it('finds no mark on what flux install and the former extensions leave', () => {
    expect(foreignFlux({ labels: fluxLabels })).toBeUndefined();
    expect(foreignFlux({})).toBeUndefined();
    const annotations = { 'resources.gardener.cloud/origin': 'seed:shoot--foo--bar/extension-shoot-flux-flux-install' };
    const labels = { ...fluxLabels, 'resources.gardener.cloud/managed-by': 'gardener' };
    expect(foreignFlux({ labels, annotations })).toBeUndefined();
  });

  it('knows no mark that a configuration could give to our own Flux', () => {
    for (const mark of [`${OPERATOR}/name`, MANAGED_BY, `${KUSTOMIZE}/name`, HELM_RELEASE]) {
      expect(isReserved(mark), mark).toBe(true);
    }
  });

  it('names the manager and the remedy in one sentence, whatever the owner of the shoot has written there', () => {
    const flux = foreignFlux({ annotations: { 'meta.helm.sh/release-name': `x\n${'y'.repeat(10_000)}` } });
    const sentence = flux === undefined ? '' : leftAlone(flux);
    expect(sentence).toMatch(/^Flux in this Shoot is managed by Helm release "x\\ny+\.\.\.", .* set adopt to true/);
    expect(sentence.length).toBeLessThan(400);
  });
});

describe('adoptedMetadata', () => {
  const entry = (manager: string, fieldsV1: Record<string, unknown>, parts: Partial<ManagedFields> = {}) => ({
    ...{ manager, operation: 'Apply', apiVersion: 'apps/v1', fieldsV1 },
    ...parts,
  });

  it('removes the marks of others and keeps the rest', () => {
    const labels = { ...fluxLabels, 'kustomize.toolkit.fluxcd.io/name': 'a', 'app.kubernetes.io/managed-by': 'Helm' };
    const annotations = { 'meta.helm.sh/release-name': 'flux', team: 'a' };
    expect(adoptedMetadata({ name: 'a', labels, annotations }, { ours: 'yes' }, 'us')).toEqual({
      labels: { 'kustomize.toolkit.fluxcd.io/name': null, 'app.kubernetes.io/managed-by': null },
      annotations: { 'meta.helm.sh/release-name': null, ours: 'yes' },
    });
  });

  it('records as ours what the tools have applied, and leaves other managers and the status', () => {
    const controller = entry(
      'kube-controller-manager',
      { 'f:status': {} },
      { operation: 'Update', subresource: 'status' },
    );
    const person = entry('someones-tool', { 'f:data': {} });
    const managedFields = [
      entry('kustomize-controller', { 'f:spec': { 'f:a': {} } }),
      entry('helm', { 'f:spec': { 'f:b': {} } }, { operation: 'Update' }),
      entry('us', { 'f:spec': { 'f:c': {} } }),
      controller,
      person,
    ];
    expect(adoptedMetadata({ name: 'a', managedFields }, {}, 'us').managedFields).toEqual([
      controller,
      person,
      entry('us', { 'f:spec': { 'f:a': {}, 'f:b': {}, 'f:c': {} } }),
    ]);
  });
});
