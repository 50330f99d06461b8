import { describe, expect, it } from 'vitest';
import { objectRef } from '../../../shared/gardener/object-ref.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { comesBack, untilDropped, withLeaving } from './leaving.ts';

const object = (apiVersion: string, kind: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'flux-system' },
  spec: { interval: '1m' },
});
const kustomization = (name: string) => object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', name);
const source = (name: string) => object('source.toolkit.fluxcd.io/v1', 'GitRepository', name);
const suspend = (leaving: KubeObject) => ({ ...leaving, spec: { interval: '1m', suspend: true } });
const none = new Set<string>();

describe('withLeaving', () => {
  it('changes nothing when nothing leaves', () => {
    const next = [source('a'), kustomization('a')];
    expect(withLeaving(next, next, none)).toEqual({ objects: next, leaving: [] });
  });

  it('keeps a leaving Kustomization, suspended, and its source until that is confirmed', () => {
    const previous = [source('old'), kustomization('old')];
    const next = [source('new'), kustomization('new')];
    expect(withLeaving(next, previous, none)).toEqual({
      objects: [...next, source('old'), suspend(kustomization('old'))],
      leaving: previous.map(objectRef),
    });
  });

  it('suspends a leaving HelmRelease too', () => {
    const release = object('helm.toolkit.fluxcd.io/v2', 'HelmRelease', 'old');
    expect(withLeaving([], [release], none).objects).toEqual([suspend(release)]);
  });

  it('drops what is confirmed', () => {
    const previous = [source('old'), suspend(kustomization('old'))];
    const confirmed = new Set(previous.map(objectRef));
    expect(withLeaving([], previous, confirmed)).toEqual({ objects: [], leaving: [] });
  });

  it('keeps the confirmed while another one is not', () => {
    const previous = [suspend(kustomization('one')), kustomization('two')];
    const confirmed = new Set([objectRef(kustomization('one'))]);
    expect(withLeaving([], previous, confirmed).objects).toEqual([
      suspend(kustomization('one')),
      suspend(kustomization('two')),
    ]);
  });

  it('drops a source that leaves alone at once: deleting it prunes nothing', () => {
    expect(withLeaving([kustomization('a')], [source('old'), kustomization('a')], none)).toEqual({
      objects: [kustomization('a')],
      leaving: [],
    });
  });
});

describe('untilDropped', () => {
  const former = ['Kustomization.kustomize.toolkit.fluxcd.io/flux-system/old'];
  const dropped = { objects: [kustomization('new')], leaving: [] };

  it('what was leaving is leaving until the content without it is in the shoot', () => {
    expect(untilDropped(dropped, former, false)).toEqual({ ...dropped, leaving: former });
    expect(untilDropped(dropped, former, true)).toEqual(dropped);
  });

  it('what leaves now is leaving beside it', () => {
    const other = objectRef(kustomization('other'));
    expect(untilDropped({ objects: [], leaving: [other] }, former, false).leaving).toEqual([other, ...former]);
  });

  it('what is asked for again is not leaving any more', () => {
    const set = { objects: [kustomization('old')], leaving: [] };
    expect(untilDropped(set, former, false)).toEqual(set);
  });
});

describe('comesBack', () => {
  const former = [objectRef(kustomization('old'))];

  it('is what is asked for again after it was dropped', () => {
    expect(comesBack([kustomization('old')], [kustomization('new')], former)).toBe(true);
  });

  it('is not what is only suspended yet, nor what stays away', () => {
    expect(comesBack([kustomization('old')], [suspend(kustomization('old'))], former)).toBe(false);
    expect(comesBack([kustomization('newest')], [kustomization('new')], former)).toBe(false);
  });
});
