import { describe, expect, it } from 'vitest';
import type { FlagValue, Option } from './option.ts';
import { runOptions, serviceOptions } from './options.ts';
import { readDocument } from './read-file.ts';
import { fromAllSources, isFlag, named, quoted } from './sources.ts';
import { files } from './testing.ts';

/** Reads the options as a command does. */
async function read(sources: {
  flags?: Record<string, FlagValue>;
  environment?: Record<string, string>;
  file?: unknown;
  options?: Record<string, Option>;
}) {
  const { flags = {}, environment = {}, file, options = serviceOptions } = sources;
  await using input = await files({ config: file ?? {} });
  const terminal = { out: () => {}, err: () => {}, stdin: async () => '', environment };
  const place = (text: string) => text.replace(input.paths.config, 'FILE');
  const values = await fromAllSources(options, {
    flags: file === undefined ? flags : { config: input.paths.config, ...flags },
    environment,
    read: async (path) => (await readDocument(path, terminal)) ?? {},
  }).catch((error: Error) => {
    throw new Error(place(error.message));
  });
  return { values, place };
}

describe('an option', () => {
  it('is taken from the flag, else the environment, else the file', async () => {
    const file = { port: 1, landscape: 'file', shootAccess: 'internal' };
    const environment = { PORT: '2', LANDSCAPE: 'environment', SHOOT_ACCESS: '' };
    const { values } = await read({ flags: { port: '3' }, environment, file });
    expect(values).toMatchObject({ port: 3, landscape: 'environment', 'shoot-access': 'internal' });
  });

  it('is named in errors as the operator wrote it', async () => {
    const { values, place } = await read({
      flags: { port: '3' },
      environment: { LANDSCAPE: 'x' },
      file: { logLevel: 'warn' },
    });
    expect(quoted(values, 'port', '3')).toBe('--port 3');
    expect(quoted(values, 'landscape', 'x')).toBe('LANDSCAPE=x');
    expect(place(quoted(values, 'log-level', 'warn'))).toBe('logLevel: warn in FILE');
    expect(place(named(values, 'log-level'))).toBe('logLevel in FILE');
    expect(['port', 'landscape', 'log-level'].map((flag) => isFlag(values, flag))).toEqual([true, false, false]);
    expect(isFlag(values, 'shoot-access')).toBe(false);
  });

  it('that is a switch is true or false everywhere, so that each place can switch it off', async () => {
    const file = { shootHealth: true };
    expect((await read({ file })).values['shoot-health']).toBe(true);
    expect((await read({ file, environment: { SHOOT_HEALTH: 'false' } })).values['shoot-health']).toBe(false);
    const both = { file, environment: { SHOOT_HEALTH: 'true' }, flags: { 'shoot-health': false } };
    expect((await read(both)).values['shoot-health']).toBe(false);
    await expect(read({ environment: { SHOOT_HEALTH: 'yes' } })).rejects.toThrow(
      'SHOOT_HEALTH=yes is not true or false',
    );
  });

  it('with several entries is a list in the file, and has commas in the environment', async () => {
    const hosts = ['a.example', 'b.example'];
    expect((await read({ file: { webhookHost: hosts } })).values['webhook-host']).toEqual(hosts);
    expect((await read({ environment: { WEBHOOK_HOST: 'a.example, b.example' } })).values['webhook-host']).toEqual(
      hosts,
    );
  });

  it('with named entries is an object in the file', async () => {
    const seeds = { a: 'in-cluster', b: '/b.kubeconfig' };
    const texts = ['a=in-cluster', 'b=/b.kubeconfig'];
    expect((await read({ file: { seeds } })).values.seed).toEqual(texts);
    expect((await read({ environment: { SEEDS: texts.join(',') } })).values.seed).toEqual(texts);
  });

  it('that gardenlet sets counts where nothing else names it', async () => {
    const environment = { SEED_NAME: 'local', GARDEN_KUBECONFIG: '/garden' };
    expect((await read({ environment })).values).toMatchObject({ garden: '/garden', seed: ['local=in-cluster'] });
    const file = { garden: '/other', seeds: { b: '/b' } };
    expect((await read({ environment, file })).values).toMatchObject({ garden: '/other', seed: ['b=/b'] });
    const selfHosted = { SHOOT_NAME: 'garden', SHOOT_NAMESPACE: 'garden-foo' };
    expect((await read({ environment: selfHosted })).values.seed).toEqual(['shoot--garden-foo--garden=in-cluster']);
    const both = { ...environment, ...selfHosted };
    expect((await read({ environment: both })).values.seed).toEqual(['local=in-cluster']);
    const none = { garden: 'none', seeds: {} };
    expect((await read({ environment, file: none })).values).toMatchObject({ garden: 'none', seed: [] });
  });
});

describe('the config file', () => {
  it('may be named by the environment, and hold what only other commands use', async () => {
    await using input = await files({ config: 'fluxDistribution: /d\nport: 8080\n' });
    const environment = { CONFIG: input.paths.config };
    expect((await read({ environment, options: runOptions })).values).toEqual({ port: 8080 });
  });

  it.each([
    [{ sheeds: {} }, 'FILE has an unknown key "sheeds"; did you mean "seeds"?'],
    [{ 'flux-distribution': '/d' }, 'FILE has an unknown key "flux-distribution"; did you mean "fluxDistribution"?'],
    [{ config: 'x' }, 'FILE has an unknown key "config"; docs/options.md lists all keys'],
    [{ port: [] }, 'port in FILE is not a text or number'],
    [{ port: 65536 }, 'port: 65536 in FILE is not a port'],
    [{ port: 1.5 }, 'port: 1.5 in FILE is not a port'],
    [{ logLevel: 'loud' }, 'logLevel: loud in FILE is not info, debug, warn or error'],
    [{ queuePrefix: 'a.b' }, 'queuePrefix: a.b in FILE is not 1 to 46 letters, digits, - or _'],
    [{ queuePrefix: 'x'.repeat(47) }, 'is not 1 to 46 letters, digits, - or _'],
    [{ sqsEndpoint: 'nonsense' }, 'sqsEndpoint: nonsense in FILE is not a URL'],
    [{ hostKeyScanDeny: ['a b'] }, 'hostKeyScanDeny in FILE "a b" is not an address'],
    [{ shootHealth: 'true' }, 'shootHealth in FILE is not true or false'],
    [{ seeds: { a: {} } }, 'seeds in FILE is not an object with entries NAME: KUBECONFIG'],
    [{ policy: 'x' }, 'policy in FILE is not an object'],
    [{ webhookHost: [{}] }, 'webhookHost in FILE is not a list of texts'],
    ['- a\n', 'FILE is not an object with options as its keys'],
    ['a: b: c', 'FILE: line 1 is neither YAML nor JSON'],
  ])('refuses %j in one sentence', async (file, sentence) => {
    await expect(read({ file })).rejects.toThrow(sentence);
  });

  it('leaves out keys without a value', async () => {
    expect((await read({ file: { port: null } })).values).toEqual({});
  });
});
