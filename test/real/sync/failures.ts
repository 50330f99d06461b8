import { type Connection, createKubeClient } from '@shoot-flux/landscape/client';
import { startInformer } from '@shoot-flux/landscape/controllers';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { fluxKinds } from './kinds.ts';

/**
 * An object that has no artifact yet, or waits for a dependency, has not attempted anything. One pass of the
 * resource-manager creates a Kustomization some milliseconds before its OCIRepository, whose creation wakes it.
 */
const isWaiting = ({ reason = '', message = '' }: Condition) =>
  reason === 'DependencyNotReady' ||
  reason === 'SourceNotReady' ||
  (reason === 'ArtifactFailed' &&
    /artifact not found|is not ready|source\.toolkit\.fluxcd\.io "[^"]+" not found/i.test(message));

/**
 * An API server serves new kinds one after the other. A pass of the resource-manager may end in between, and for some
 * seconds the Alert is there without its Provider.
 */
const isEarly = ({ message }: KubeObject) => /Provider\S* "[^"]+" not found/.test(String(message));

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

interface Status {
  conditions?: Condition[];
  history?: { lastReconciledStatus?: string; status?: string; version?: number }[];
  failures?: number;
  installFailures?: number;
}

/** Watches what Flux reports in a shoot, from the first moment on. */
export function watchAttempts(connection: Connection) {
  const stopping = new AbortController();
  const client = createKubeClient(connection, { userAgent: 'attempts', timeoutMs: 30_000 });
  /** Every reason for which an object was not Ready for a moment, because it waited for another one. */
  const waits = new Set<string>();
  const seen = new Set<string>();
  /** The objects that have become Ready, in this order. */
  const ready: string[] = [];
  const onChange = ({ kind, metadata, status }: KubeObject) => {
    const name = `${kind} ${metadata.namespace}/${metadata.name}`;
    const { conditions = [], history = [], failures, installFailures } = (status ?? {}) as Status;
    if (!ready.includes(name) && conditions.some(({ type, status }) => type === 'Ready' && status === 'True'))
      ready.push(name);
    for (const condition of conditions) {
      if (condition.type !== 'Ready' || condition.status !== 'False') continue;
      if (isWaiting(condition)) waits.add(`${name}: ${condition.reason}`);
      else seen.add(`${name}: ${condition.reason}: ${condition.message}`);
    }
    for (const { lastReconciledStatus, status: released, version } of history) {
      if (lastReconciledStatus !== undefined && lastReconciledStatus !== 'ReconciliationSucceeded')
        seen.add(`${name}: ${lastReconciledStatus}`);
      if (released === 'failed') seen.add(`${name}: release ${version} failed`);
    }
    if ((failures ?? 0) + (installFailures ?? 0) > 0) seen.add(`${name}: failed installations`);
  };
  const informers = Object.values(fluxKinds).map((kind) =>
    startInformer(
      client,
      kind,
      { signal: stopping.signal },
      // A list has objects without a kind.
      { onChange: (object) => onChange({ ...object, kind: kind.kind } as KubeObject) },
    ),
  );
  return {
    waits,
    ready,
    /** Each attempt that failed: warnings of controllers, entries of histories, and conditions that were False once. */
    async failed() {
      const { items } = await client.list(resources.events, {});
      const warnings = (items as KubeObject[])
        .filter(({ type, source, reason }) => type === 'Warning' && isFlux(source) && reason !== 'DependencyNotReady')
        .filter((event) => !isEarly(event))
        .map(({ reason, message, involvedObject }) => `${JSON.stringify(involvedObject)}: ${reason}: ${message}`);
      return [...seen, ...warnings];
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(informers.map(({ stopped }) => stopped));
      client.close();
    },
  };
}

function isFlux(source: unknown): boolean {
  const { component = '' } = (source ?? {}) as { component?: string };
  return component.endsWith('-controller');
}
