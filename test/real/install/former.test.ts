import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { files } from '../../../infra/cli/testing.ts';
import { findDefinitions } from '../../../infra/functions.ts';
import { servedOf } from '../../../infra/knative/base.ts';
import { listen } from '../../../infra/listen.ts';
import { startCli } from '../../integration/cli-process.ts';
import { ownDistribution, startEmbeddedApis } from '../../integration/embedded-apis.ts';
import { SEED, startStage } from '../../scenarios/stage.ts';
import { formerVersions, unpackFormer } from './former.ts';
import { liveOneLife } from './life.ts';
import { type Relay, startRelay } from './relay.ts';

const versions = await formerVersions();

it('at least one former version is kept', () => {
  expect(versions.length).toBeGreaterThan(0);
});

/** What the next minor version may add to changes; the current one does not know it either. */
const additions = { urgent: true, hops: 3, origin: 'some-name', since: '2026-11-22T12:00:00.000Z' };

function newer(data: string): string {
  const change = JSON.parse(data);
  return JSON.stringify({ ...change, ...additions, cause: { ...change.cause, ...additions } });
}

describe.each(versions)('beside version %s', (version) => {
  it('a newer watcher works with its functions', async () => {
    await using former = await unpackFormer(version);
    const answers = await live({ functions: former.entry }, (relay) => {
      relay.alter = (data, to) => (to === 'functions' ? newer(data) : data);
    });
    expect(answers.functions).toEqual(new Set([204]));
    expect(answers.bridge).toEqual(new Set([204]));
  });

  it('newer functions work with its watcher', async () => {
    await using former = await unpackFormer(version);
    const answers = await live({ watcher: former.entry }, (relay) => {
      relay.alter = (data, to) => (to === 'bridge' ? newer(data) : data);
    });
    expect(answers.functions).toEqual(new Set([204]));
    expect(answers.bridge).toEqual(new Set([204]));
  });
});

/** Leads a Shoot through its life with watcher and functions in processes of their own, either of them of another version. */
async function live(entries: { watcher?: string; functions?: string }, prepare: (relay: Relay) => void) {
  const apis = await startEmbeddedApis();
  try {
    await using stage = await startStage(apis, '');
    await using relay = await startRelay();
    prepare(relay);
    await using input = await files({ garden: apis.garden.kubeconfig(), seed: apis.seed.kubeconfig() });
    const clusters = ['--garden', input.paths.garden, '--seed', `${SEED}=${input.paths.seed}`, '--sink', relay.url];
    const bridge = await freePort();
    const watch = ['watch', ...clusters, '--port', '0', '--events-port', String(bridge)];
    const settings = ['--flux-distribution', ownDistribution, '--shoot-access', 'external', '--port', '0'];
    const serve = ['serve', ...servedOf(await findDefinitions()).map(({ name }) => name), ...clusters, ...settings];
    await using watcher = startCli(watch, {}, entries.watcher);
    await using functions = startCli(serve, {}, entries.functions);
    await watcher.until(/and takes what waits/);
    const [, port] = await functions.until(/events and metrics on port (\d+)/);
    relay.ports = { functions: Number(port), bridge };
    const steps = await liveOneLife(stage).catch((error) => {
      throw new Error(`${error.message}\n${functions.output().slice(-4000)}`, { cause: error });
    });
    expect(steps).toContain('remove');
    const of = (place: string) => new Set(relay.answers.filter(({ to }) => to === place).map(({ status }) => status));
    return { functions: of('functions'), bridge: of('bridge') };
  } finally {
    await apis.stop();
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
