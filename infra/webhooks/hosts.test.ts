import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { renewed } from './certificates.ts';
import { hostOf } from './hosts.ts';

const hosts = [
  ['shoot-flux.shoot-flux.svc', 'shoot-flux.shoot-flux.svc'],
  ['Hooks.Example.', 'hooks.example'],
  ['localhost', 'localhost'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['my_host.example', 'my_host.example'],
  ['10.0.0.1', '10.0.0.1'],
  ['::1', '::1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['::ffff:10.0.0.1', '::ffff:a00:1'],
];

describe('hostOf', () => {
  it.each(hosts)('normalizes %s to %s', (text, canonical) => {
    expect(hostOf(text ?? '')).toBe(canonical);
  });

  it.each([
    '',
    'a b',
    'a:8443',
    'https://hooks.example/admission',
    '-a.example',
    'user@hooks.example',
    '010.0.0.1',
    'fe80::1%eth0',
    `${'x'.repeat(64)}.example`,
    `${'x.'.repeat(130)}example`,
  ])('rejects %j', (text) => {
    expect(hostOf(text)).toBeUndefined();
  });

  it('returns the form that a certificate contains', async () => {
    const names = hosts.map(([text]) => hostOf(text ?? '') ?? '');
    const now = new Date();
    const issued = await renewed(undefined, names, now);
    expect(await renewed(issued, names, now)).toBe(issued);
    const certificate = new X509Certificate(issued.serving.cert);
    expect(names.map((name) => certificate.checkHost(name) ?? certificate.checkIP(name))).toEqual(names);
  });
});
