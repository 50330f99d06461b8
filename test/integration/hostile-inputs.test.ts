import { join } from 'node:path';
import { type Cluster, startCluster } from '@shoot-flux/landscape/cluster';
import { gardenCrds, seedCrds } from '@shoot-flux/landscape/crds';
import { eventually } from '@shoot-flux/landscape/eventually';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { files } from '../../infra/cli/testing.ts';
import { standIn } from '../../shared/flux/testing.ts';
import type { Extension } from '../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../shared/kube/resource.ts';
import { type SeenRequest, startTlsServer } from '../../shared/kube/testing.ts';
import { type HostileInput, hostileInputs } from '../bench/landscape/hostile-inputs.ts';
import { cluster, extension } from '../bench/landscape/objects.ts';
import { stampApplied } from '../bench/landscape/stamp.ts';
import { type CommandProcess, startCommand } from '../command-process.ts';
import { kubeconfigOf, secretWith } from '../shoot-secrets.ts';

const preload = join(import.meta.dirname, 'endless-code.js');

interface Line {
  message: string;
  function?: string;
  key?: string;
  outcome?: string;
  afterSeconds?: number;
  error?: string;
}

let api: Cluster;
let input: Awaited<ReturnType<typeof files<'kubeconfig'>>>;
let product: CommandProcess;
const lines: Line[] = [];
const stopping = new AbortController();

beforeAll(async () => {
  api = await startCluster([...gardenCrds(), ...seedCrds()]);
  input = await files({ kubeconfig: api.kubeconfig });
  // The readiness of Flux in the shoot is read once everything counts as applied.
  void stampApplied(api.connection, stopping.signal);
  const { kubeconfig } = input.paths;
  const args = ['run', `--garden=${kubeconfig}`, `--seed=local=${kubeconfig}`, `--flux-distribution=${standIn.folder}`];
  product = startCommand(args, { preload, onLine: (line) => lines.push(JSON.parse(line)) });
  // Loads every function and a release once, which is no input's doing.
  await untilInstalled(createShoot('warm-up', {}));
});
afterAll(async () => {
  stopping.abort();
  await product[Symbol.asyncDispose]();
  await api.stop();
  await input[Symbol.asyncDispose]();
});

const providerConfig = (fields: object) => ({
  apiVersion: 'flux.extensions.gardener.cloud/v1alpha1',
  kind: 'FluxConfig',
  ...fields,
});

const known = (name: string): Omit<HostileInput, 'name'> => {
  const found = hostileInputs.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no input ${name}.`);
  return found;
};

/** A Secret of the Shoot; where its annotation stands, endless-code.js never ends. */
const poisoned = (annotation: string) => ({
  providerConfig: providerConfig({ additionalSecretResources: [{ name: 'poison', targetName: 'poison' }] }),
  secrets: { 'ref-poison': { [annotation]: '' } },
});

const largeAnswer = (_: SeenRequest, response: { end(body: string): void }) =>
  response.end(`{"metadata":{"name":"a"},"data":"${'x'.repeat(50 * 1024 * 1024)}"}`);

/** What is written, and what its author reads: the object and the remedy. */
const inputs: [name: string, Omit<HostileInput, 'name'>, sentence: RegExp][] = [
  [
    'a regular expression without end',
    {
      providerConfig: providerConfig({
        flux: { patches: [{ target: { name: '([a-z.]+)+X' }, patch: '- {op: remove, path: /metadata/labels}' }] },
      }),
    },
    /providerConfig: flux\.patches\[0\].* pattern/,
  ],
  ['a YAML bomb', known('config.yaml, aliases of aliases'), /ConfigMap garden-h1\/flux-config.*;/],
  ['a prime of a key', known('a DSA key with a prime of 22 KB'), /flux-source/],
  ['30,000 names', known('30,000 components'), /ConfigMap garden-h3\/flux-config.*;/],
  [
    'an answer without end',
    known('a shoot that streams without end'),
    /The shoot cannot be reached: GET .* the answer of the shoot is larger .*; make the objects smaller/,
  ],
  [
    'an answer of 50 MiB',
    { shoot: largeAnswer },
    /The shoot cannot be reached: GET .* the answer of the shoot is larger .*; make the objects smaller/,
  ],
  ['a deep object', known('a providerConfig 900 levels deep'), /providerConfig.* nested/],
  [
    '5,000 documents',
    { fluxConfig: { 'config.yaml': '---\na: 1\n'.repeat(5000) } },
    /ConfigMap garden-h7\/flux-config.*;/,
  ],
  [
    'all memory',
    poisoned('takes-all-memory'),
    /Extension shoot--h8--s\/shoot-flux (needed more than 128 MB of memory|kept shoot-flux busy for more than 2 s), .*; simplify its providerConfig/,
  ],
  [
    'an endless loop',
    poisoned('never-ends'),
    /Extension shoot--h9--s\/shoot-flux kept shoot-flux busy for more than 2 s, .*; simplify its providerConfig/,
  ],
];

it.each(inputs.map((each, index) => [...each, index] as const))(
  '%s: others go on, the key backs off, and its author reads a sentence',
  async (_, hostile, sentence, index) => {
    const server = hostile.shoot === undefined ? undefined : await startTlsServer(hostile.shoot);
    const controlPlane = createShoot(`h${index}`, hostile, server?.connection);
    const neighbours = Array.from({ length: 3 }, async (_, number) =>
      untilInstalled(createShoot(`n${index}-${number}`, {})),
    );
    await Promise.all(neighbours);
    await eventually('the sentence', async () => sentence.test((await textsOf(controlPlane, `h${index}`)).join('\n')));
    const isOf = ({ key = '' }: Line) => key.includes(`-h${index}--`) || key.includes(`-h${index}/`);
    const ended = lines.findLast(
      (line) => line.message === 'reconcile finished' && isOf(line) && line.outcome !== 'done',
    );
    // What its author has to correct is looked at again when it changes, and everything else later and later.
    if (ended !== undefined) expect(ended.afterSeconds).toBeGreaterThanOrEqual(1);
    await api.client.delete(resources.extensions, { namespace: controlPlane, name: 'shoot-flux' });
    await server?.[Symbol.asyncDispose]();
  },
);

it('the process ends when it is asked to', async () => {
  await product.end();
  expect(lines.filter(({ message }) => message === 'stopping')).toHaveLength(1);
});

/** Creates a project with one Shoot. @returns its control plane */
function createShoot(
  project: string,
  { fluxConfig, fluxSource, secrets = {}, providerConfig: config }: Omit<HostileInput, 'name'>,
  shoot?: { server: string; ca?: string | undefined },
): string {
  const [garden, controlPlane] = [`garden-${project}`, `shoot--${project}--s`];
  const { objects } = api.api;
  for (const name of [garden, controlPlane]) objects.ensureNamespace(name);
  const data = { repositoryUrl: 'https://example.org/fleet', repositoryBranch: 'main', ...fluxConfig };
  const metadata = { name: 'flux-config', namespace: garden };
  objects.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as KubeObject);
  if (fluxSource !== undefined) objects.create(secretWith(garden, 'flux-source', fluxSource));
  for (const [name, content] of Object.entries(secrets)) objects.create(secretWith(controlPlane, name, content));
  if (shoot !== undefined) objects.create(secretWith(controlPlane, 'gardener', { kubeconfig: kubeconfigOf(shoot) }));
  const owner = cluster(
    controlPlane,
    Object.keys(secrets).map((name) => name.replace('ref-', '')),
  );
  owner.spec.shoot.metadata = { name: 's', namespace: garden };
  objects.create(owner as unknown as KubeObject);
  objects.create(extension(controlPlane, config));
  return controlPlane;
}

async function untilInstalled(controlPlane: string): Promise<void> {
  await eventually('the ManagedResources', async () => {
    const { items } = await api.client.list(resources.managedResources, { namespace: controlPlane });
    return items.length >= 3;
  });
}

/** What the author can read: the status of the Extension, and the Events of the project. */
async function textsOf(controlPlane: string, project: string): Promise<string[]> {
  const key = { namespace: controlPlane, name: 'shoot-flux' };
  const live = await api.client.find<Extension>(resources.extensions, key);
  const { items } = await api.client.list<KubeObject & { message?: string }>(resources.events, {
    namespace: `garden-${project}`,
  });
  const { lastError, lastOperation, conditions = [] } = live?.status ?? {};
  const texts = [lastError?.description, lastOperation?.description, ...conditions.map(({ message }) => message)];
  return [...texts, ...items.map(({ message }) => message)].filter((text) => text !== undefined);
}
