import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { standInDistribution } from '@shoot-flux/landscape/distribution';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { report } from '../../events/run.ts';
import { changeOf, keyOf } from '../../events/testing.ts';
import { definition } from '../../functions/keys/function.ts';
import { handler } from '../../functions/keys/handler.ts';
import { findDefinitions } from '../../infra/functions.ts';
import { fluxStatusSubscription, RECONCILE_AT } from '../../shared/config/project-config.ts';
import { TerminalError } from '../../shared/errors.ts';
import { EXTENSION_TYPE } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { createLog } from '../../shared/runtime/log.ts';
import { noMetrics } from '../../shared/runtime/metrics.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { failing, PROJECT, startProject } from '../scenarios/project/project.ts';
import { createQueues, startEmulator } from '../sqs.ts';
import { callsForHelp, commands, example, exampleWith, expanded, isRunElsewhere, root } from './documents.ts';
import { startApisWithShippedRights } from './embedded-apis.ts';
import { fluxConfig, fluxSource, startGarden } from './garden.ts';

const standIn = join(standInDistribution.folder, standInDistribution.version);
describe('the commands of the documents', () => {
  let folder: string;
  let garden: Cluster;
  let seed: Cluster;
  let queue: Awaited<ReturnType<typeof startEmulator>>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docs-'));
    [garden, seed, queue] = await Promise.all([startCluster(gardenCrds()), startCluster(seedCrds()), startEmulator()]);
    await placeFiles();
    // Where the functions run elsewhere, their deployment has created the queues.
    await (await createQueues(queue.endpoint, await findDefinitions(), { prefix: 'shoot-flux-prod-' })).stop();
  });
  afterAll(async () => {
    await Promise.all([garden.stop(), seed.stop(), queue.stop()]);
    await rm(folder, { recursive: true });
  });

  /** Places the files that the commands name. */
  async function placeFiles(): Promise<void> {
    await symlink(join(root, 'infra'), join(folder, 'infra'));
    await mkdir(join(folder, 'distribution'));
    await cp(standIn, join(folder, 'distribution/v2.9.4'), { recursive: true });
    spawnSync('tar', ['-czf', join(folder, 'manifests.tar.gz'), '-C', standIn, '.']);
    await writeFile(join(folder, 'garden.kubeconfig'), garden.kubeconfig);
    await writeFile(join(folder, 'seed.kubeconfig'), seed.kubeconfig);
    await writeFile(join(folder, 'flux-config.yaml'), example('README.md', 'ConfigMap'));
    await writeFile(join(folder, 'config.yaml'), exampleWith('docs/policy.md', 'policy'));
    await mkdir(join(folder, 'bin'));
    const kubectl = `#!/bin/sh\nexec node ${join(import.meta.dirname, 'kubectl.ts')} "$@"\n`;
    await writeFile(join(folder, 'bin/kubectl'), kubectl, { mode: 0o755 });
    createExtension();
    const deleted = JSON.stringify({ message: 'object deleted', object: 'Secret a/b', reason: 'nothing refers to it' });
    const down = JSON.stringify({ message: 'cluster down', cluster: 'my-seed', reason: 'connect ECONNREFUSED' });
    await writeFile(join(folder, 'shoot-flux.log'), `${givenUp('shoot--my-project--my-shoot')}\n${deleted}\n${down}\n`);
  }

  /** gardenlet has written this one. */
  function createExtension(): void {
    const namespace = 'shoot--my-project--my-shoot';
    seed.api.objects.ensureNamespace(namespace);
    const metadata = { name: EXTENSION_TYPE, namespace };
    const object = { apiVersion: 'extensions.gardener.cloud/v1alpha1', kind: 'Extension', metadata };
    seed.api.objects.create({ ...object, spec: { type: EXTENSION_TYPE } } as KubeObject);
  }

  /** `watch` sends to AWS unless it is given another endpoint. */
  const sqsOf = (command: string) => (command.includes(' watch ') ? { SQS_ENDPOINT: queue.endpoint } : {});

  /** Runs a command line in the folder; `until` says when it has to be asked to end. */
  async function run(
    command: string,
    until?: RegExp,
    KUBECONFIG = '',
  ): Promise<{ code: number | null; output: string }> {
    const path = [join(folder, 'bin'), join(root, 'node_modules/.bin'), process.env.PATH].join(':');
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: folder,
      env: { ...process.env, ...sqsOf(command), PATH: path, KUBECONFIG, PORT: '0' },
    });
    let output = '';
    let asked = false;
    const collect = (chunk: Buffer) => {
      output += chunk;
      // Once: the same signal again would end it at once.
      if (!asked && until?.test(output)) asked = child.kill('SIGTERM');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, output };
  }

  const isRequest = ({ command }: { command: string }) => command.includes(RECONCILE_AT);
  const isKubectl = ({ path, command }: { path: string; command: string }) =>
    path === 'docs/configuration.md' && command.startsWith('kubectl ');
  const isAboutStatus = ({ path }: { path: string }) => path === 'docs/status.md';

  const isAboutFaults = ({ path, command }: { path: string; command: string }) =>
    path === 'docs/when-something-is-wrong.md' && command.startsWith('kubectl -n garden-my-project ');

  const isRunHere = (found: { path: string; command: string }) =>
    !isRunElsewhere(found) && !isKubectl(found) && !isAboutStatus(found) && !isAboutFaults(found);

  it.each(commands.filter(isRunHere))('$path: $command', async ({ command }) => {
    // These ports may be taken on this machine.
    const line = expanded(command)
      .replace('--port 8080', '--port 0')
      .replace('--webhook-port 8443', '--webhook-port 0');
    const known = [
      'node infra/cli/shoot-flux.js ',
      'node infra/gardener/registration/main.ts ',
      'grep ',
      'kubectl ',
      'openssl ',
    ];
    const isKnown = known.some((start) => line.startsWith(start));
    expect(isKnown, 'no test runs this command: add it here, or say which file runs it').toBe(true);
    const goesOn = /shoot-flux\.js (run|watch|webhooks) /.test(line);
    const serves = goesOn
      ? /^shoot-flux (serves my-seed|serves \/admission|watches (?:the garden|my-seed)) ?/m
      : undefined;
    const { code, output } = await run(line, serves);
    expect(code, output).toBe(0);
  });

  /** Runs commands of a page as a member of a project. */
  const followerOf = async (kubeconfig: string) => {
    await writeFile(join(folder, 'project.kubeconfig'), kubeconfig);
    return async ({ command }: { command: string }) => {
      const line = command.replace('garden-my-project', PROJECT);
      const ended = await run(line, undefined, join(folder, 'project.kubeconfig'));
      expect(ended, line).toMatchObject({ code: 0 });
      return ended.output;
    };
  };

  it('rotate the key as described, and ask Flux to reconcile, with kubectl and the rights of keys', async () => {
    await using project = await startGarden(definition, handler);
    const { data } = parse(example('docs/configuration.md', 'ConfigMap'));
    project.api.objects.create(fluxConfig(data));
    await project.run();
    const kubectl = await followerOf(project.api.kubeconfig());
    const follow = async (step: { command: string }) => {
      const output = await kubectl(step);
      await project.run();
      return output;
    };
    const steps = commands.filter((step) => isKubectl(step) && !isRequest(step));
    const [start, publicKey, events, complete, giveUp] = steps;
    if (!start || !publicKey || !events || !complete || !giveUp) throw new Error('the page has fewer commands');
    expect(steps).toHaveLength(5);
    const text = (name: string) => {
      const live = project.api.objects.get(fluxSource()).data as Record<string, string>;
      return Buffer.from(live[name] ?? '', 'base64')
        .toString('utf8')
        .trim();
    };

    await follow(start);
    const line = await follow(publicKey);
    expect(line).toMatch(/^ssh-ed25519 /);
    expect(line).toBe(text('identity.next.pub'));
    expect(await follow(events)).toContain(line);
    await follow(complete);
    expect(text('identity.pub')).toBe(line);
    await follow(start);
    expect(text('identity.next.pub')).not.toBe('');
    await follow(giveUp);
    expect(text('identity.next.pub')).toBe('');
    expect(await follow(publicKey)).toBe('');

    const metadata = { namespace: PROJECT, name: 'my-shoot' };
    const shoot: KubeObject = { apiVersion: 'core.gardener.cloud/v1beta1', kind: 'Shoot', metadata };
    project.api.objects.create(shoot);
    const requests = commands.filter((step) => isKubectl(step) && isRequest(step));
    expect(requests).toHaveLength(2);
    // Both again: a second request is another value.
    for (const request of [...requests, ...requests]) await kubectl(request);
    for (const object of [fluxConfig({}), shoot]) {
      const { annotations } = (project.api.objects.get(object) as KubeObject).metadata;
      expect(annotations?.[RECONCILE_AT]).toMatch(/^\d+$/);
    }
  });

  const statusCommands = (part: string) =>
    commands.filter((found) => isAboutStatus(found) && found.command.includes(part));

  it('create by hand what the garden refuses to shoot-flux, and show the state of the Shoots, with kubectl', async () => {
    const apis = await startApisWithShippedRights(undefined, 'extension-shoot-flux-x7k2p');
    await using project = await startProject(apis);
    await project.set('my-third-cluster', failing);
    await project.run('my-third-cluster');
    expect(await project.lines()).toBeUndefined();
    const [refusal = ''] = (await project.eventsOf('my-third-cluster')).filter((text) =>
      text.startsWith('CreationRefused'),
    );
    const follow = await followerOf(apis.garden.kubeconfig());
    const map = { namespace: PROJECT, name: 'flux-status' };
    const isNews = async () => {
      const live = await project.garden.find(resources.configMaps, map, { metadataOnly: true });
      return live && fluxStatusSubscription.isNews?.(live);
    };
    const news: unknown[] = [];
    const byHand = [
      ...statusCommands(' configmap ').filter(({ command }) => !command.includes(' get ')),
      ...statusCommands(' secret '),
    ];
    expect(byHand).toHaveLength(3);
    for (const found of byHand) {
      await follow(found);
      news.push(await isNews());
    }
    // The label wakes the Shoots; without it the ConfigMap would not be ours yet.
    expect(news).toEqual([false, true, true]);
    for (const { command } of byHand.slice(0, 2))
      expect(refusal).toContain(command.replace('garden-my-project', PROJECT));
    expect(await project.run('my-third-cluster')).toEqual(done);
    const [whole, events] = await Promise.all(statusCommands(' get ').map(follow));
    expect(whole).toContain('Summary: 0 Ready, 0 progressing, 1 not Ready of 1 Shoot');
    expect(whole).toMatch(/my-third-cluster: .*Not Ready since /);
    expect(events).toMatch(/^Warning +FluxNotReady +Flux is not Ready: /m);
    await apis.stop();
  });

  it('lead from what a member sees to the sentence, and try again at once, with kubectl', async () => {
    const apis = await startApisWithShippedRights();
    await using project = await startProject(apis);
    await project.set('my-shoot', failing);
    await project.run('my-shoot');
    const shoot = { namespace: PROJECT, name: 'my-shoot' };
    const error = 'extension encountered error during reconciliation: ConfigMap garden-foo/flux-config: wrong';
    const write = { fieldManager: 'test' };
    const spec = { extensions: [{ type: 'other' }, { type: EXTENSION_TYPE }] };
    const status = { lastErrors: [{ description: 'earlier' }, { description: error }] };
    await project.garden.mergePatch(resources.shoots, shoot, { spec, status }, write);
    const configMap = { ...fluxConfig({ syncMode: 'Once' }), metadata: { namespace: PROJECT, name: 'flux-config' } };
    await project.garden.create(resources.configMaps, configMap, write);
    const follow = await followerOf(apis.garden.kubeconfig());
    const steps = commands.filter(isAboutFaults);
    const output: string[] = [];
    for (const step of steps) output.push(await follow(step));
    expect(output).toEqual([
      expect.stringMatching(/my-shoot: .*Not Ready since /),
      expect.stringMatching(/^Warning +FluxNotReady +Flux is not Ready: /),
      '',
      'shoot/my-shoot changed\n',
      `earlier ${error}`,
      `other ${EXTENSION_TYPE}`,
      expect.stringContaining('syncMode: Once'),
    ]);
    const { annotations } = (await project.garden.find(resources.shoots, shoot))?.metadata ?? {};
    expect(annotations).toMatchObject({
      [RECONCILE_AT]: expect.stringMatching(/^\d+$/),
      'gardener.cloud/operation': 'reconcile',
    });
    await apis.stop();
  });

  it.each([...new Set(callsForHelp)])('%s', async (command) => {
    const { code, output } = await run(expanded(command));
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('--help') });
  });
});

/** The log line of a dead letter. */
function givenUp(namespace: string): string {
  let line = '';
  const change = changeOf({ key: { ...keyOf(1), namespace } });
  const runner = {
    name: change.function,
    log: createLog('info', (text) => {
      line = text;
    }),
    metrics: noMetrics,
    now: () => new Date(),
  };
  const run = { changes: [change] as const, attempt: 40, dueAt: Date.now(), superseded: 0 };
  const ending = { result: 'dead_letter', error: new TerminalError('It cannot succeed.') } as const;
  report(runner, run, ending, 1);
  return line;
}
