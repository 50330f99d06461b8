import { startKubeApi } from '@shoot-flux/landscape/kube-api';
import { afterEach, describe, expect, it } from 'vitest';
import { observe } from '../../functions/readiness/observe.ts';
import { appliedFactory } from '../../shared/gardener/testing.ts';
import type { Applied } from '../../shared/gardener/types.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient, type HttpKubeClient } from '../../shared/kube/http-client.ts';

const kinds = [
  { kind: 'Kustomization', group: 'kustomize.toolkit.fluxcd.io', version: 'v1' },
  { kind: 'HelmRelease', group: 'helm.toolkit.fluxcd.io', version: 'v2' },
];
const crds = kinds.map(({ kind, group, version }) => {
  const plural = `${kind.toLowerCase()}s`;
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
});

/** As many as a configuration may list, in fifty namespaces. */
const listed = Array.from({ length: 50 }, (_, index) => `team-${index}`).flatMap((namespace) =>
  kinds.map(({ kind, group, version }) => ({ apiVersion: `${group}/${version}`, kind, namespace, name: 'app' })),
);
const place = { object: 'providerConfig', path: 'objects[0]' };
const applied: Applied = { ...appliedFactory(), others: listed.map((one) => ({ ...one, place })) };

describe('many listed objects in many namespaces', () => {
  let api: Awaited<ReturnType<typeof startKubeApi>>;
  let client: HttpKubeClient;

  /** @param foreign how many objects of each kind the owner of the shoot has in a namespace that comes first */
  async function start(foreign: number): Promise<void> {
    api = await startKubeApi({ objects: crds });
    const others = kinds.flatMap(({ kind, group, version }) =>
      Array.from({ length: foreign }, (_, index) => ({
        apiVersion: `${group}/${version}`,
        kind,
        namespace: 'a',
        name: `app-${index}`,
      })),
    );
    const all = [...others, ...listed];
    for (const name of new Set(all.map(({ namespace }) => namespace))) {
      api.objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    for (const { apiVersion, kind, ...metadata } of all) {
      const object = { apiVersion, kind, metadata, spec: {} };
      api.objects.create(object);
    }
    const { url: server, ca, token } = api;
    client = createKubeClient({ server, ca, token });
  }

  afterEach(async () => {
    client?.close();
    await api?.stop();
  });

  /** Counts the requests, and how many of them were under way at once. */
  function counting() {
    const seen = { lists: 0, finds: 0, atOnce: 0 };
    let underWay = 0;
    const count = async <T>(call: Promise<T>): Promise<T> => {
      seen.atOnce = Math.max(seen.atOnce, ++underWay);
      return call.finally(() => underWay--);
    };
    const shoot = {
      list: (...args: Parameters<KubeClient['list']>) => {
        seen.lists++;
        return count(client.list(...args));
      },
      find: (...args: Parameters<KubeClient['find']>) => {
        seen.finds++;
        return count(client.find(...args));
      },
    } as KubeClient;
    return { shoot, seen };
  }
  const names = (objects: readonly ({ kind: string; metadata: object } | undefined)[] = []) =>
    objects.map((object) => object && { kind: object.kind, metadata: object.metadata });
  const expected = listed.map(({ kind, namespace, name }) => ({
    kind,
    metadata: expect.objectContaining({ namespace, name }),
  }));

  it('are read with one list of each kind', async () => {
    await start(0);
    const { shoot, seen } = counting();
    const { others } = await observe(shoot, applied, new Date());
    expect(names(others)).toEqual(expected);
    // The Deployments, and two kinds.
    expect(seen).toEqual({ lists: 3, finds: 0, atOnce: 1 });
  });

  it('are read alone where the list is full of others, and few of them one after the other', async () => {
    await start(250);
    const { shoot, seen } = counting();
    const few = (applied.others ?? []).filter(({ kind }) => kind === 'Kustomization').slice(0, 3);
    const { others } = await observe(shoot, { ...applied, others: few }, new Date());
    expect(names(others)).toEqual(expected.filter(({ kind }) => kind === 'Kustomization').slice(0, 3));
    expect(seen).toEqual({ lists: 2, finds: 3, atOnce: 1 });
  });

  it('are read some at once where the shoot is slow', async () => {
    await start(250);
    api.faults.add({ match: {}, action: 'latency', ms: 100, times: Number.POSITIVE_INFINITY });
    const { shoot, seen } = counting();
    const { others } = await observe(shoot, applied, new Date());
    expect(names(others)).toEqual(expected);
    expect(seen).toEqual({ lists: 3, finds: 100, atOnce: 8 });
  });
});
