import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '@shoot-flux/landscape/kube-api';
import { resources } from '../../shared/kube/resource.ts';
import type { Random } from './random.ts';
import type { SoakWorld } from './world.ts';

const write = { fieldManager: 'soak' };
const NAME = 'flux-config';
const projects = ['apple', 'pear'] as const;

/** A Shoot of the soak. */
interface SoakShoot {
  namespace: string;
  name: string;
  seed: string;
  isHibernated: boolean;
}

export type Life = Awaited<ReturnType<typeof beginLife>>;

interface Situation {
  world: SoakWorld;
  random: Random;
  shoots: Map<string, SoakShoot>;
  /** Shoots that a step works on; gardenlet runs one flow for a Shoot at a time. */
  busy: Set<string>;
  /** Clusters that an outage concerns. */
  down: Set<string>;
  most: number;
  numbers: number;
}

/** The random life of the Shoots, projects and clusters of a landscape. @param most how many Shoots exist at most */
export async function beginLife(world: SoakWorld, random: Random, most: number) {
  const situation: Situation = { world, random, most, shoots: new Map(), busy: new Set(), down: new Set(), numbers: 0 };
  for (const project of projects) await world.landscape.createProject(project);
  for (const project of projects) await configure(situation, `garden-${project}`, good(world));
  return {
    /** Does one random thing and waits for its end; failures of gardenlet are part of life. Returns what it did. */
    async step() {
      const [name, action] = random.pick(actions);
      try {
        return `${name}: ${await action(situation)}`;
      } catch (error) {
        // gardenlet gives up, or the object has just been deleted by another step: it is tried again later.
        return `${name}: ${error instanceof Error ? error.message : error}`;
      }
    },
    /** Ends every outage, writes a good configuration, wakes all Shoots and reconciles them. @returns what is wrong */
    heal: () => heal(situation),
  };
}

type Action = (situation: Situation) => Promise<string>;

/** Frequent actions are listed more than once. */
const actions: readonly [[string, Action], ...[string, Action][]] = [
  ['reconcile', reconcile],
  ['reconcile', reconcile],
  ['reconcile', reconcile],
  ['create', create],
  ['create', create],
  ['delete', remove],
  ['hibernate or wake', hibernate],
  ['edit flux-config', editConfig],
  ['edit flux-config', editConfig],
  ['break flux-config', breakConfig],
  ['edit providerConfig', editProviderConfig],
  ['commit', commit],
  ['outage', outage],
  ['faults', faults],
  ['forget history', forgetHistory],
];

function good({ repository }: SoakWorld): Record<string, string> {
  return { repositoryUrl: repository.httpUrl, repositoryBranch: 'main' };
}

async function configure({ world }: Situation, namespace: string, data: Record<string, string>): Promise<void> {
  const { client } = world.landscape.garden;
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME, namespace }, data };
  await client.apply(resources.configMaps, object, write);
}

/** Runs gardenlet's flow for a Shoot, unless another step works on it. */
async function flow(situation: Situation, shoot: SoakShoot, work: () => Promise<unknown>): Promise<string> {
  const id = `${shoot.namespace}/${shoot.name}`;
  if (situation.busy.has(id)) return `${id} is busy`;
  situation.busy.add(id);
  try {
    await work();
    return id;
  } finally {
    situation.busy.delete(id);
  }
}

function anyShoot({ shoots, random }: Situation): SoakShoot | undefined {
  const all = [...shoots.values()];
  return all[Math.floor(random.next() * all.length)];
}

function gardenletOf({ world }: Situation, { seed }: SoakShoot) {
  const found = world.landscape.seeds.get(seed);
  if (found === undefined) throw new Error(`There is no seed ${seed}.`);
  return found.gardenlet;
}

async function create(situation: Situation): Promise<string> {
  const { world, random, shoots, most } = situation;
  if (shoots.size >= most) return 'enough Shoots';
  const namespace = `garden-${random.pick(projects)}`;
  const shoot = { namespace, name: `s${++situation.numbers}`, seed: random.pick(['one', 'two']), isHibernated: false };
  shoots.set(`${namespace}/${shoot.name}`, shoot);
  return flow(situation, shoot, async () => {
    await world.landscape.createShoot(namespace, shoot.name, { seedName: shoot.seed });
    await gardenletOf(situation, shoot).reconcile(shoot);
  });
}

async function remove(situation: Situation): Promise<string> {
  const shoot = anyShoot(situation);
  if (shoot === undefined || situation.shoots.size < situation.most / 2) return 'too few Shoots';
  return flow(situation, shoot, async () => {
    await gardenletOf(situation, shoot).delete(shoot, { force: situation.random.next() < 0.2 });
    situation.shoots.delete(`${shoot.namespace}/${shoot.name}`);
  });
}

async function reconcile(situation: Situation): Promise<string> {
  const shoot = anyShoot(situation);
  if (shoot === undefined) return 'no Shoot';
  return flow(situation, shoot, () => gardenletOf(situation, shoot).reconcile(shoot));
}

async function hibernate(situation: Situation): Promise<string> {
  const shoot = anyShoot(situation);
  if (shoot === undefined) return 'no Shoot';
  return flow(situation, shoot, async () => {
    await setHibernation(situation, shoot, !shoot.isHibernated);
    await gardenletOf(situation, shoot).reconcile(shoot);
  });
}

async function setHibernation({ world }: Situation, shoot: SoakShoot, isHibernated: boolean): Promise<void> {
  const spec = { hibernation: { enabled: isHibernated } };
  await world.landscape.garden.client.mergePatch(resources.shoots, shoot, { spec }, write);
  shoot.isHibernated = isHibernated;
}

async function editConfig(situation: Situation): Promise<string> {
  const { world, random } = situation;
  const namespace = `garden-${random.pick(projects)}`;
  const data = {
    ...good(world),
    repositoryInterval: random.pick(['30s', '1m', '2m', '5m']),
    syncMode: random.pick(['Once', 'ManifestsOnly', 'Reconcile']),
    suspend: random.pick(['true', 'false', 'false', 'false']),
  };
  await configure(situation, namespace, data);
  return `${namespace} ${data.syncMode} ${data.repositoryInterval}`;
}

/** What owners write by mistake, and what they would write to do harm. */
const broken: readonly [Record<string, string>, ...Record<string, string>[]] = [
  { repositoryUrl: 'not a URL' },
  { repositoryBranches: 'main' },
  { fluxVersion: '9.9.9' },
  { components: Array.from({ length: 30_000 }, (_, index) => `component-${index}`).join(',') },
  { 'config.yaml': '['.repeat(100_000) },
  { 'config.yaml': `a: &a [${'x,'.repeat(200)}]\nb: [${'*a,'.repeat(2000)}]\n` },
  { knownHosts: `${'*a'.repeat(50_000)}b ssh-ed25519 AAAA\n` },
  { repositoryUrl: `https://example.org/${'a'.repeat(500_000)}` },
];

async function breakConfig(situation: Situation): Promise<string> {
  const namespace = `garden-${situation.random.pick(projects)}`;
  const data = situation.random.pick(broken);
  await configure(situation, namespace, { ...good(situation.world), ...data });
  return `${namespace} ${Object.keys(data).join(', ')}`;
}

async function editProviderConfig(situation: Situation): Promise<string> {
  const { world, random } = situation;
  const shoot = anyShoot(situation);
  if (shoot === undefined) return 'no Shoot';
  const apiVersion = 'flux.extensions.gardener.cloud/v1alpha1';
  const providerConfig = random.pick<unknown>([
    null,
    { apiVersion, kind: 'FluxConfig', syncMode: 'Reconcile' },
    { apiVersion, kind: 'FluxConfig', flux: { version: 'none' } },
    { apiVersion, kind: 'FluxConfig', additionalSecretResources: [{ name: 'missing' }] },
    'text',
  ]);
  const extensions = [{ type: 'shoot-flux', ...(providerConfig === null ? {} : { providerConfig }) }];
  return flow(situation, shoot, async () => {
    await world.landscape.garden.client.mergePatch(resources.shoots, shoot, { spec: { extensions } }, write);
    await gardenletOf(situation, shoot).reconcile(shoot);
  });
}

async function commit({ world, numbers }: Situation): Promise<string> {
  return world.repository.commit({ 'note.txt': String(numbers) }, 'Note');
}

/** A cluster swallows packets, or refuses connections for a moment. */
async function outage(situation: Situation): Promise<string> {
  const { world, random, down } = situation;
  const name = random.pick(['garden', 'one', 'two']);
  const proxy = world.proxies.get(name);
  if (proxy === undefined || down.has(name)) return `${name} is down already`;
  down.add(name);
  const seconds = 1 + Math.floor(random.next() * 15);
  proxy.behave(random.pick(['swallow', 'swallow', 'refuse']));
  await sleep(seconds * 1000);
  proxy.behave('forward');
  down.delete(name);
  return `${name} for ${seconds} s`;
}

async function faults({ world, random }: Situation): Promise<string> {
  const name = random.pick(['garden', 'one', 'two']);
  const match = { userAgent: /^shoot-flux/ };
  const fault = random.pick<Fault>([
    { match, action: 'status', status: 500, times: 5 },
    { match, action: 'status', status: 429, retryAfterSeconds: 2, times: 5 },
    { match, action: 'status', status: 409, times: 3 },
    { match, action: 'reset', times: 5 },
    { match, action: 'reset', after: true, times: 3 },
    { match, action: 'latency', ms: 3000, times: 5 },
    { match, action: 'hang', times: 2 },
  ]);
  world.clusters.get(name)?.api.faults.add(fault);
  return `${name} ${fault.action}`;
}

async function forgetHistory({ world, random }: Situation): Promise<string> {
  const name = random.pick(['garden', 'one', 'two']);
  world.clusters.get(name)?.api.compact();
  return name;
}

async function heal(situation: Situation): Promise<string[]> {
  const { world, shoots } = situation;
  for (const proxy of world.proxies.values()) proxy.behave('forward');
  for (const { api } of world.clusters.values()) api.faults.clear();
  for (const project of projects) await configure(situation, `garden-${project}`, good(world));
  const wrong: string[] = [];
  for (const shoot of shoots.values()) {
    const extensions = [{ type: 'shoot-flux' }];
    await world.landscape.garden.client.mergePatch(resources.shoots, shoot, { spec: { extensions } }, write);
    await setHibernation(situation, shoot, false);
    await gardenletOf(situation, shoot)
      .reconcile(shoot)
      .catch((error: Error) => wrong.push(`${shoot.namespace}/${shoot.name}: ${error.message}`));
  }
  return wrong;
}
