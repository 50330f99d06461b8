import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connection, createKubeClient, isAlreadyExists, type KubeClient, resources } from '../client/client.ts';
import type { Controller } from '../controllers/work-queue.ts';
import { recordingsMissing, testData } from '../test-data.ts';
import type { FullManagedResource } from './references.ts';
import { type Stage, scenarios, shownResources } from './scenarios.ts';
import { defaultTargetNamespaces, startResourceManager } from './start.ts';

/** One version of a ManagedResource, as the recording has it. */
interface Version {
  ms: number;
  event: string;
  generation: number;
  observedGeneration?: number;
  deleting?: boolean;
  finalizers?: string[];
  /** Type -> status, reason, message. */
  conditions: Record<string, string[]>;
  resources?: string[];
}

interface RecordedStep {
  step: string;
  versions: Version[];
  /** `plural/name` -> `there`, `deleting` or `404`. */
  objects: Record<string, string>;
}

export interface TraceClusters {
  source: Connection;
  target: Connection;
  stop(): Promise<void>;
}

const file = testData('resource-manager-traces.json');
const namespace = 'shoot--lab--traces';

/**
 * Replays a recording of the real gardener-resource-manager against the stand-in.
 * @param start starts two API servers; the source has the CRD of ManagedResources
 * @param pace `any`: ignores how many passes there are and what is pending in each, because the API servers decide how
 * long a removal takes
 */
export function describeTraces(
  title: string,
  start: () => Promise<TraceClusters>,
  pace: 'recorded' | 'any' = 'recorded',
): void {
  if (file === undefined) {
    it.skip(`${title}: ${recordingsMissing}`, () => {});
    return;
  }
  const recording: Record<string, RecordedStep[]> = JSON.parse(readFileSync(file, 'utf8'));
  const essence = pace === 'any' ? (versions: Version[]) => withoutPace(essenceOf(versions)) : essenceOf;

  describe(title, () => {
    let clusters: TraceClusters;
    let manager: Controller;
    let stage: Stage;
    const clients: KubeClient[] = [];

    beforeAll(async () => {
      clusters = await start();
      const [source, target] = [createKubeClient(clusters.source), createKubeClient(clusters.target)];
      clients.push(source, target);
      stage = { source, target, namespace };
      await ensureNamespace(source, namespace);
      await ensureNamespace(target, 'kube-system');
      manager = await startResourceManager({ ...clusters, targetNamespaces: defaultTargetNamespaces });
    });
    afterAll(async () => {
      await manager?.stop();
      for (const client of clients) client.close();
      await clusters?.stop();
    });

    it('knows every recorded scenario and step', () => {
      const steps = (all: Record<string, { step: string }[]>) =>
        Object.entries(all).map(([title, list]) => [title, list.map(({ step }) => step)]);
      const ours = Object.entries(scenarios).map(([title, scenario]) => [title, scenario.steps]);
      expect(steps(Object.fromEntries(ours))).toEqual(steps(recording));
    });

    it.concurrent.each(Object.keys(recording))('%s', async (title) => {
      const scenario = scenarios[title];
      if (scenario === undefined) throw new Error(`There is no scenario ${title}.`);
      const watch = await watchVersions(stage.source, scenario.name);
      try {
        for (const [index, recorded] of (recording[title] ?? []).entries()) {
          const from = watch.versions.length;
          await scenario.steps[index]?.act(stage);
          const seen = await settled(() => watch.versions.slice(from), recorded.versions, essence);
          expect({ step: recorded.step, versions: essence(seen) }).toEqual({
            step: recorded.step,
            versions: essence(recorded.versions),
          });
          expect(await objectsOf(stage.target, Object.keys(recorded.objects))).toEqual(recorded.objects);
          expectSecondPass(recorded.step, watch.versions[from - 1], seen[0]);
        }
      } finally {
        await watch.stop();
      }
    });
  });
}

/** Collects every version of one ManagedResource from now on. */
async function watchVersions(source: KubeClient, name: string) {
  const versions: Version[] = [];
  const stopping = new AbortController();
  const fieldSelector = `metadata.name=${name}`;
  const { resourceVersion } = await source.list(resources.managedResources, { namespace, fieldSelector });
  const follow = async () => {
    const options = { namespace, fieldSelector, resourceVersion, timeoutSeconds: 600, signal: stopping.signal };
    for await (const { type, object } of source.watch(resources.managedResources, options)) {
      if (type !== 'BOOKMARK') versions.push(versionOf(type, object as FullManagedResource));
    }
  };
  const ended = follow();
  return {
    versions,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

function versionOf(event: string, { metadata, status = {} }: FullManagedResource): Version {
  const conditions = Object.fromEntries(
    (status.conditions ?? []).map(({ type, status, reason, message }) => [type, [status, reason, message]]),
  );
  const shown = status.resources?.map(({ kind, namespace, name }) => [kind, namespace, name].filter(Boolean).join('/'));
  return {
    ms: Date.now(),
    event,
    generation: metadata.generation ?? 0,
    ...(metadata.finalizers?.length ? { finalizers: metadata.finalizers } : {}),
    ...(status.observedGeneration ? { observedGeneration: status.observedGeneration } : {}),
    ...(metadata.deletionTimestamp === undefined ? {} : { deleting: true }),
    conditions,
    ...(shown && { resources: shown }),
  };
}

/** Waits until everything recorded has happened, and then a moment for further versions. */
async function settled(
  seen: () => Version[],
  recorded: Version[],
  essence: (versions: Version[]) => Version[],
): Promise<Version[]> {
  const enough = () => seen().length >= recorded.length && isDeepStrictEqual(essence(seen()), essence(recorded));
  for (let waited = 0; waited < 12_000 && !enough(); waited += 20) await sleep(20);
  await sleep(200);
  return seen();
}

/** Leaves out times, the number of retries, and whether health or progress is reported first. */
function essenceOf(versions: Version[]): Version[] {
  const shown = versions
    .filter((version) => !isHalfChecked(version))
    .map(({ ms, conditions, finalizers, ...version }) => ({
      ...version,
      ms: 0,
      // The API server decides whether the last version still has the finalizer that was removed.
      ...(version.event === 'DELETED' || finalizers === undefined ? {} : { finalizers }),
      conditions: Object.fromEntries(Object.entries(conditions).sort()),
    }));
  const result: Version[] = [];
  for (const version of shown) {
    result.push(version);
    // Progressing, False, Progressing, False: repeats of one attempt.
    if (result.length >= 4 && isDeepStrictEqual(result.slice(-2), result.slice(-4, -2))) result.splice(-2);
  }
  return result;
}

/** Merges all passes that only wait for a removal. */
function withoutPace(versions: Version[]): Version[] {
  const vague = versions.map((version) => ({
    ...version,
    conditions: Object.fromEntries(
      Object.entries(version.conditions).map(([type, [status = '', reason = '', message = '']]) => [
        type,
        [status, reason, message.replace(/^(Could not clean all old resources):.*/s, '$1')],
      ]),
    ),
  }));
  return vague.filter((version, index) => !isDeepStrictEqual(version, vague[index - 1]));
}

/** Returns whether it is applied and only one of the two checks has a result. */
function isHalfChecked({ conditions }: Version): boolean {
  const pending = (type: string) => conditions[type]?.[1] === 'ChecksPending';
  return conditions.ResourcesApplied?.[0] === 'True' && pending('ResourcesHealthy') !== pending('ResourcesProgressing');
}

/** The next pass over terminating objects comes after 5 s: the only time that does not depend on the machine. */
function expectSecondPass(step: string, last: Version | undefined, next: Version | undefined): void {
  if (step !== 'finalizer removed in the shoot') return;
  expect((next?.ms ?? 0) - (last?.ms ?? 0)).toBeGreaterThan(4000);
}

async function objectsOf(target: KubeClient, shown: string[]): Promise<Record<string, string>> {
  const entries = shown.map(async (text) => {
    const [plural = '', name = ''] = text.split('/');
    const resource = shownResources[plural];
    if (resource === undefined) throw new Error(`The recording shows ${plural}, which this test does not know.`);
    const within = name === 'k' ? 'lab-k' : 'kube-system';
    const object = await target.find(resource, { name, ...(resource.namespaced && { namespace: within }) });
    const state = object === undefined ? '404' : object.metadata.deletionTimestamp === undefined ? 'there' : 'deleting';
    return [text, state];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function ensureNamespace(client: KubeClient, name: string): Promise<void> {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  try {
    await client.create(resources.namespaces, object, { fieldManager: 'test' });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
