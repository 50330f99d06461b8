import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseChange } from '../change.ts';
import { changeOf, keyOf } from '../testing.ts';
import { openSink, sinkAt } from './sink.ts';
import { startTestSink } from './testing.ts';

const changes = [1, 2, 3].map((n) => changeOf({ key: keyOf(n) }));

describe('a sink', () => {
  it('gets each change as an event', async () => {
    await using receiver = await startTestSink();
    const { sender, close } = openSink({ url: receiver.url, extensions: { landscape: 'dev' } });
    await sender.send(changes);
    close();
    expect(receiver.events.map(({ data }) => parseChange(data).key).toSorted(byNamespace)).toEqual(
      [1, 2, 3].map(keyOf),
    );
    expect(receiver.events[0]?.attributes).toMatchObject({ landscape: 'dev', source: '/shoot-flux/clusters/local' });
  });

  it('says how many changes it did not accept', async () => {
    await using receiver = await startTestSink();
    receiver.status = ({ attributes }) => (attributes.subject?.includes('s2') ? 503 : 202);
    const { sender, close } = openSink({ url: receiver.url });
    await expect(sender.send(changes)).rejects.toThrow(
      /^The sink did not accept 1 of 3 changes: the sink 127.0.0.1:\d+ answered 503$/,
    );
    close();
  });

  it('that does not answer fails thousands of changes within one time limit', async () => {
    await using receiver = await startTestSink();
    receiver.status = 0;
    const { sender, close } = openSink({ url: receiver.url, timeoutMs: 500 });
    const many = Array.from({ length: 3000 }, (_, n) => changeOf({ key: keyOf(n) }));
    await expect(sender.send(many)).rejects.toThrow(/did not accept 3000 of 3000 changes: the sink .* does not answer/);
    close();
    // If each time limit began with a connection, 32 at a time, the sink would receive all 3,000, in 47 s.
    expect(receiver.headers.length).toBeLessThan(1500);
  });

  it('gets the token of a SinkBinding, and reads it again after a 401', async () => {
    await using receiver = await startTestSink();
    const tokenPath = join(mkdtempSync(join(tmpdir(), 'shoot-flux-token-')), 'token');
    writeFileSync(tokenPath, 'old\n');
    const { sender, close } = openSink({ url: receiver.url, tokenPath });
    await sender.send(changes.slice(0, 1));
    writeFileSync(tokenPath, 'new\n');
    receiver.status = () => (receiver.headers.length === 1 ? 401 : 202);
    await sender.send(changes.slice(1, 2));
    close();
    expect(receiver.headers.map(({ authorization }) => authorization)).toEqual([
      'Bearer old',
      'Bearer old',
      'Bearer new',
    ]);
  });
});

describe('the environment of a SinkBinding', () => {
  it('adds attributes to every event', () => {
    const url = 'http://broker/ns/b';
    const K_CE_OVERRIDES = '{"extensions":{"landscape":"dev"}}';
    expect(sinkAt(url, { K_CE_OVERRIDES })).toEqual({ url, extensions: { landscape: 'dev' }, ca: undefined });
    expect(sinkAt(url, { K_CE_OVERRIDES: '', K_CA_CERTS: '' })).toEqual({ url, extensions: {}, ca: undefined });
  });

  it('must have certificates where it names authorities', () => {
    expect(() => sinkAt('https://broker', { K_CA_CERTS: 'quack' })).toThrow('K_CA_CERTS has no certificate in PEM');
  });

  it.each([
    ['quack', 'it is not JSON'],
    ['{"extensions":["a"]}', 'it is not of the form'],
    ['{"extensions":{"id":"1"}}', '"id" is no name of an extension'],
    ['{"extensions":{"Big-Name":"1"}}', '"Big-Name" is no name of an extension'],
  ])('is refused: %s', (K_CE_OVERRIDES, problem) => {
    expect(() => sinkAt('http://broker', { K_CE_OVERRIDES })).toThrow(problem);
  });

  it.each(['broker', 'ftp://broker', 'http://user:password@broker'])('refuses the address %s', (url) => {
    expect(() => openSink({ url })).toThrow(/^The sink is not an address such as/);
    expect(() => openSink({ url })).not.toThrow('password');
  });
});

function byNamespace(a: { namespace: string }, b: { namespace: string }): number {
  return a.namespace.localeCompare(b.namespace);
}
