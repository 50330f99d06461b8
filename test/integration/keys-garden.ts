import type { KubeApiOptions, RequestSummary } from '@shoot-flux/landscape/kube-api';
import { expect } from 'vitest';
import { definition } from '../../functions/keys/function.ts';
import { handler } from '../../functions/keys/handler.ts';
import { apiVersionOf, resources } from '../../shared/kube/resource.ts';
import { done, type Outcome } from '../../shared/runtime/outcome.ts';
import { fluxConfig, fluxSource, type Garden, startGarden } from './garden.ts';

/** A private repository on a well-known host, whose host keys need no scan. */
export const github = { repositoryUrl: 'ssh://git@github.com/org/fleet', repositoryType: 'private' };

/** A garden with this ConfigMap. At the end, everything it published is searched for every secret it ever held. */
export async function gardenWith(data: Record<string, string>, options: KubeApiOptions = {}): Promise<Garden> {
  const garden = await startGarden(definition, handler, options);
  const { objects } = garden.api;
  const secrets = new Set(['PRIVATE KEY', 'marked-secret']);
  const metadata: unknown[] = [];
  objects.onChange('v1', 'Secret', ({ object }) => {
    metadata.push(object.metadata);
    for (const [name, value] of Object.entries(textOf((object as SourceSecret).data))) {
      if (!name.endsWith('.pub')) for (const line of privateLines(value)) secrets.add(line);
    }
  });
  objects.create(fluxConfig(data));
  const stop = garden[Symbol.asyncDispose];
  garden[Symbol.asyncDispose] = async () => {
    const said = JSON.stringify([garden.log, eventsOf(garden), metadata, objects.find(fluxConfig({}))?.metadata]);
    await stop();
    for (const secret of secrets) expect(said).not.toContain(secret);
  };
  return garden;
}

/** The end of a private key; the first lines of an RSA key are its public modulus. */
function privateLines(pem: string): string[] {
  if (!pem.includes('PRIVATE KEY')) return [];
  const lines = pem.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
  return lines.slice(-3);
}

export function secretOf({ api }: Garden): Record<string, string> | undefined {
  const secret = api.objects.find(fluxSource()) as SourceSecret | undefined;
  return secret && textOf(secret.data);
}

interface SourceSecret {
  data?: Record<string, string>;
}

function textOf(data: SourceSecret['data'] = {}): Record<string, string> {
  const entries = Object.entries(data);
  return Object.fromEntries(entries.map(([name, value]) => [name, Buffer.from(value, 'base64').toString('utf8')]));
}

export function annotationsOf({ api }: Garden): Record<string, string> {
  return (api.objects.find(fluxSource())?.metadata.annotations ?? {}) as Record<string, string>;
}

export function eventsOf({ api }: Garden) {
  const { events } = resources;
  return api.objects
    .list(apiVersionOf(events), events.kind, 'garden-foo')
    .map(({ type, reason, message, involvedObject }) => ({
      type,
      reason,
      message: String(message),
      uid: (involvedObject as { uid: string }).uid,
    }));
}

export const reasonsOf = (garden: Garden) =>
  eventsOf(garden)
    .map(({ reason }) => reason)
    .sort();

/** Runs as the queue does: a run whose objects have changed since it read them is repeated. */
export const runRepeated = (garden: Garden): Promise<Outcome> =>
  garden.run().catch((error: Error) => {
    expect(error.message).toMatch(/409|404|has changed since it was read/);
    return runRepeated(garden);
  });

/** Runs again and expects no write. */
export async function expectRest(garden: Garden): Promise<void> {
  garden.api.requests.length = 0;
  expect(await garden.run()).toEqual(done);
  expect(garden.api.requests.length).toBeGreaterThan(0);
  expect(garden.writes()).toEqual([]);
}

/** Holds all callers until this many have arrived. */
export function gather(count: number, matches: (request: RequestSummary) => boolean) {
  let arrived = 0;
  let open = () => {};
  const all = new Promise<void>((resolve) => (open = resolve));
  return (request: RequestSummary) => {
    if (!matches(request) || arrived >= count) return undefined;
    if (++arrived === count) open();
    return all;
  };
}

/** Options of a garden that lets a test act once in the middle of a run: just before this request is carried out. */
export function before(verb: string, end: string) {
  const garden = {
    act: undefined as (() => unknown) | undefined,
    async onRequest(request: RequestSummary): Promise<void> {
      const { act } = garden;
      if (act === undefined || request.verb !== verb || !request.path.endsWith(end)) return;
      garden.act = undefined;
      await act();
    },
  };
  return garden;
}
