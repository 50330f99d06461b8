import { describe, expect, it } from 'vitest';
import { files } from '../../../infra/cli/testing.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import { servedOf } from '../../../infra/knative/base.ts';
import { type CliProcess, startCli } from '../../integration/cli-process.ts';
import { ownDistribution, startEmbeddedApis } from '../../integration/embedded-apis.ts';
import { SEED, startStage } from '../../scenarios/stage.ts';
import { freePorts } from '../cluster/ports.ts';
import { formerVersions, unpackFormer } from './former.ts';
import { liveOneLife } from './life.ts';
import { type Relay, startRelay } from './relay.ts';

const versions = await formerVersions();

it('at least one former version is kept', () => {
  expect(versions.length).toBeGreaterThan(0);
});

/** The functions of the former versions. */
const formerFunctions = ['fan-out', 'keys', 'managed-resources', 'readiness', 'sync-mode'];

/** What the next minor version may add to changes; the current one does not know it either. */
const additions = { urgent: true, hops: 3, origin: 'some-name', since: '2026-11-22T12:00:00.000Z' };

function newer(data: string): string {
  const change = JSON.parse(data);
  return JSON.stringify({ ...change, ...additions, cause: { ...change.cause, ...additions } });
}

describe.each(versions)('beside version %s', (version) => {
  it('a newer watcher works with its functions', async () => {
    await using former = await unpackFormer(version);
    await live({
      entries: () => ({ functions: former.entry }),
      alter: (data, to) => (to === 'functions' ? newer(data) : data),
    });
  });

  it('newer functions work with its watcher', async () => {
    await using former = await unpackFormer(version);
    await live({
      entries: () => ({ watcher: former.entry }),
      alter: (data, to) => (to === 'bridge' ? newer(data) : data),
    });
  });

  it('a Shoot lives through an upgrade, a rollback and the upgrade again', async () => {
    await using former = await unpackFormer(version);
    const both = { watcher: former.entry, functions: former.entry };
    // As docs/upgrades.md orders it: functions before the watcher, and back in the other order.
    const order: Record<string, Entries> = {
      create: both,
      'config change': { watcher: former.entry },
      'key rotation prepared': {},
      hibernate: { watcher: former.entry },
      wake: both,
      restore: {},
    };
    let current: Entries = both;
    await live({
      entries: (step) => {
        current = order[step] ?? current;
        return current;
      },
    });
  });
});

/** The files to start; absent: this version. */
interface Entries {
  watcher?: string;
  functions?: string;
}

interface Lived {
  /** Says which versions run when a step of the life has begun. */
  entries: (step: string) => Entries;
  alter?: Relay['alter'];
}

/** Leads a Shoot through its life with watcher and functions in processes of their own; no change may be refused. */
async function live({ entries, alter }: Lived): Promise<void> {
  const apis = await startEmbeddedApis();
  try {
    await using stage = await startStage(apis, '');
    await using relay = await startRelay();
    if (alter !== undefined) relay.alter = alter;
    await using input = await files({ garden: apis.garden.kubeconfig(), seed: apis.seed.kubeconfig() });
    const clusters = ['--garden', input.paths.garden, '--seed', `${SEED}=${input.paths.seed}`, '--sink', relay.url];
    await using processes = startProcesses(clusters, relay);
    await processes.run(entries('create'));
    const steps = await liveOneLife(stage, { disturb: (step) => processes.run(entries(step)) }).catch((error) => {
      throw new Error(`${error.message}\n${processes.output()}`, { cause: error });
    });
    expect(steps).toContain('remove');
    const statuses = (place: string) =>
      new Set(relay.answers.filter(({ to }) => to === place).map(({ status }) => status));
    expect({ functions: statuses('functions'), bridge: statuses('bridge') }).toEqual({
      functions: new Set([204]),
      bridge: new Set([204]),
    });
  } finally {
    await apis.stop();
  }
}

/** Watcher and functions, each replaced when another version is to run. */
function startProcesses(clusters: string[], relay: Relay) {
  const running: Partial<Record<keyof Entries, { entry: string | undefined; process: CliProcess }>> = {};
  const isRight = (part: keyof Entries, entry: string | undefined) =>
    running[part] !== undefined && running[part].entry === entry;
  const replace = async (part: keyof Entries, entry: string | undefined, args: string[]) => {
    await running[part]?.process.end();
    const process = startCli(args, {}, entry);
    running[part] = { entry, process };
    return process;
  };
  const startFunctions = async (entry: string | undefined) => {
    const names = entry === undefined ? servedOf(await findDefinitions()).map(({ name }) => name) : formerFunctions;
    // Each version of the manifests has Triggers for its own functions.
    relay.functions = names;
    const settings = ['--flux-distribution', ownDistribution, '--shoot-access', 'external', '--port', '0'];
    const functions = await replace('functions', entry, ['serve', ...names, ...clusters, ...settings]);
    const [, port] = await functions.until(/events and metrics on port (\d+)/);
    relay.ports.functions = Number(port);
  };
  const startWatcher = async (entry: string | undefined) => {
    const [port = 0] = await freePorts(1);
    const args = ['watch', ...clusters, '--port', '0', '--events-port', String(port)];
    await (await replace('watcher', entry, args)).until(/and takes what waits/);
    relay.ports.bridge = port;
  };
  return {
    async run({ functions, watcher }: Entries) {
      if (!isRight('functions', functions)) await startFunctions(functions);
      if (!isRight('watcher', watcher)) await startWatcher(watcher);
    },
    output: () => running.functions?.process.output().slice(-4000) ?? '',
    async [Symbol.asyncDispose]() {
      for (const part of Object.values(running)) await part.process[Symbol.asyncDispose]();
    },
  };
}
