import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '@shoot-flux/landscape/cluster';
import {
  createDiscovery,
  type Handlers,
  type Informer,
  objectText,
  startInformer,
} from '@shoot-flux/landscape/controllers';
import { readiness } from '../../functions/readiness/kstatus.ts';
import { EXTENSION_TYPE, type Extension, type ManagedResource } from '../../shared/gardener/types.ts';
import { type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';
import type { Output } from './output.ts';

export type Observer = ReturnType<typeof createObserver>;

/** Watches clusters and prints changes, as `kubectl get --watch` would. */
export function createObserver(output: Output) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const informers: Informer<KubeObject>[] = [];

  const watch = <T extends KubeObject>({ client }: Cluster, resource: Resource, handlers: Handlers<T>) =>
    void informers.push(startInformer<T>(client, resource, { signal }, handlers) as unknown as Informer<KubeObject>);

  const whenServed = async (cluster: Cluster, group: string, kind: string, begin: (resource: Resource) => void) => {
    const discovery = createDiscovery(cluster.connection);
    while (!signal.aborted) {
      const resource = await discovery.preferred(group, kind).catch(() => undefined);
      if (resource !== undefined) {
        begin(resource);
        break;
      }
      await sleep(100, undefined, { signal }).catch(() => {});
    }
    discovery.close();
  };

  /** Returns a function that prints the text for an object when it has changed. */
  const createReporter = (who: string) => {
    const reported = new Map<string, string>();
    return ({ kind, metadata }: KubeObject, text: string | undefined, good = true) => {
      const key = `${kind} ${objectText(metadata)}`;
      if (text === undefined || reported.get(key) === text) return;
      reported.set(key, text);
      output.line(who, `${key}: ${text}`, good ? 'green' : 'yellow');
    };
  };

  return {
    seed(cluster: Cluster) {
      const report = createReporter('seed');
      watch<Extension>(cluster, resources.extensions, {
        onChange(extension) {
          const { lastOperation, lastError } = extension.status ?? {};
          if (lastOperation === undefined) return;
          const error = lastError ? `: ${lastError.description}` : '';
          report(extension, `${lastOperation.type} ${lastOperation.state}${error}`, !lastError);
        },
      });
      watch<ManagedResource>(cluster, resources.managedResources, {
        onChange: (object) => report(object, applied(object), isApplied(object)),
        onDelete: (object) => report(object, 'released, its objects stay'),
      });
    },

    shoot(technicalId: string, cluster: Cluster) {
      const report = createReporter(technicalId);
      watch(cluster, resources.deployments, {
        onChange(deployment) {
          report(deployment, availability(deployment));
        },
      });
      for (const [group, kind] of [
        ['source.toolkit.fluxcd.io', 'GitRepository'],
        ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
      ] as const) {
        void whenServed(cluster, group, kind, (resource) => {
          watch(cluster, resource, { onChange: (object) => report(object, ...fluxText(object)) });
        });
      }
    },

    async stop() {
      stopping.abort();
      await Promise.all(informers.map((informer) => informer.stopped));
    },
  };
}

/** Returns the name of a Shoot's Extension. */
export const extensionName = (technicalId: string) => ({ namespace: technicalId, name: EXTENSION_TYPE });

function conditionOf({ status }: ManagedResource) {
  return status?.conditions?.find(({ type }) => type === 'ResourcesApplied');
}

function isApplied(object: ManagedResource): boolean {
  return conditionOf(object)?.status === 'True';
}

function applied(object: ManagedResource): string | undefined {
  const condition = conditionOf(object);
  if (condition?.status === 'False') return `first pass: ${condition.message.split('\n')[0]}`;
  if (condition?.status !== 'True') return undefined;
  const kinds = new Map<string, number>();
  for (const { kind } of object.status?.resources ?? []) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return `applied ${[...kinds].map(([kind, count]) => (count === 1 ? kind : `${count} ${plural(kind)}`)).join(', ')}`;
}

const plural = (kind: string) => (kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`);

function availability({ spec, status }: KubeObject): string | undefined {
  const { replicas = 1, template } = spec as {
    replicas?: number;
    template?: { spec?: { containers?: { image?: string }[] } };
  };
  const { availableReplicas = 0 } = (status ?? {}) as { availableReplicas?: number };
  const image = template?.spec?.containers?.[0]?.image ?? '';
  return availableReplicas < replicas ? undefined : `available, ${availableReplicas} of ${image}`;
}

function fluxText(object: KubeObject): [string | undefined, boolean] {
  const state = readiness(object);
  if (state.state === 'current') return [`Ready at ${short(state.revision)}`, true];
  const ready = (object.status as { conditions?: { type: string; status: string }[] } | undefined)?.conditions?.find(
    ({ type }) => type === 'Ready',
  );
  if (ready?.status !== 'False') return [undefined, true];
  return [`${state.state}: ${state.message}`, false];
}

/** Returns `main@sha1:0123abc`. */
export function short(revision: string | undefined): string {
  return (revision ?? '').replace(/(sha1:[0-9a-f]{7})[0-9a-f]*/, '$1');
}
