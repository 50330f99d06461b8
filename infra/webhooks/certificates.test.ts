import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Certificates, caBundle, hostOf, type KeyPair, renewed } from './certificates.ts';

const start = new Date('2026-01-02T03:04:05Z');
const HOUR = 3_600_000;
const hours = (count: number) => new Date(start.getTime() + count * HOUR);
const days = (count: number) => hours(24 * count);
const hosts = ['shoot-flux.shoot-flux.svc', '127.0.0.1'];

const renew = (certificates: Certificates | undefined, now: Date, names = hosts) => renewed(certificates, names, now);

/** Returns the authority that has signed the serving certificate. */
function signerOf({ authorities, serving }: Certificates): KeyPair | undefined {
  const signed = new X509Certificate(serving.cert);
  return authorities.find(({ cert }) => signed.verify(new X509Certificate(cert).publicKey));
}

/** Renews like a process that checks every hour. */
async function until(certificates: Certificates, from: number, until: number): Promise<Certificates> {
  let current = certificates;
  for (let hour = from; hour <= until; hour++) current = await renew(current, hours(hour));
  return current;
}

/** Whether a client that trusts this bundle accepts this certificate at this time, for all the names. */
function accepts(bundle: string, { serving }: Certificates, now: Date): boolean {
  const certificate = new X509Certificate(serving.cert);
  const isNow = (one: X509Certificate) =>
    Date.parse(one.validFrom) <= now.getTime() && now.getTime() < Date.parse(one.validTo);
  const authorities = (bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  const issuer = authorities.find(
    (authority) => certificate.checkIssued(authority) && certificate.verify(authority.publicKey),
  );
  const covers =
    certificate.checkHost(hosts[0] ?? '') !== undefined && certificate.checkIP(hosts[1] ?? '') !== undefined;
  return issuer?.ca === true && isNow(issuer) && isNow(certificate) && covers;
}

describe('certificates', () => {
  it('are issued when there are none, and then nothing is due', async () => {
    const issued = await renew(undefined, start);
    expect(accepts(caBundle(issued), issued, start)).toBe(true);
    expect(await renew(issued, start)).toBe(issued);
    expect(await renew(issued, hours(100))).toBe(issued);
  });

  it('are accepted at any time, also by clients an hour behind, and also when served an hour longer', async () => {
    let late = await renew(undefined, start);
    let current = late;
    const authorities = new Set([signerOf(current)?.cert]);
    for (let hour = 1; hour <= 24 * 100; hour++) {
      const now = hours(hour);
      current = await renew(current, now);
      authorities.add(signerOf(current)?.cert);
      const news =
        current === late ? [] : [accepts(caBundle(late), current, now), accepts(caBundle(current), late, now)];
      if ([accepts(caBundle(current), current, now), ...news].includes(false))
        throw new Error(`not accepted at hour ${hour}`);
      late = current;
    }
    // One every 25 days.
    expect(authorities.size).toBe(5);
  });

  it('start to rotate ten days before the end of the authority, and end with one authority again', async () => {
    const issued = await renew(undefined, start);
    const before = await until(issued, 1, 24 * 20 - 1);
    expect(before.authorities).toEqual(issued.authorities);
    const next = await until(before, 24 * 20, 24 * 25 - 1);
    expect(next.authorities).toEqual([...issued.authorities, expect.anything()]);
    expect(signerOf(next)).toEqual(issued.authorities[0]);
    const taken = await until(next, 24 * 25, 24 * 25);
    expect(taken.authorities).toEqual(next.authorities);
    expect(signerOf(taken)).toEqual(next.authorities[1]);
    const forgotten = await until(taken, 24 * 25, 24 * 30);
    expect(forgotten.authorities).toEqual([next.authorities[1]]);
  });

  it('are all issued again when the authority has expired', async () => {
    const issued = await renew(undefined, start);
    const reissued = await renew(issued, days(31));
    expect(caBundle(reissued)).not.toContain(caBundle(issued));
    expect(accepts(caBundle(reissued), reissued, days(31))).toBe(true);
  });

  it('are issued again when a clock that was ahead issued them', async () => {
    const ahead = await renew(undefined, days(400));
    const reissued = await renew(ahead, start);
    expect(accepts(caBundle(reissued), reissued, start)).toBe(true);
    expect(await renew(reissued, start)).toBe(reissued);
  });

  it('get another serving certificate when a clock that was ahead issued the first', async () => {
    const issued = await renew(undefined, start);
    const ahead = await renew(issued, days(2), ['other.example', ...hosts]);
    const reissued = await renew(ahead, start);
    expect(reissued.authorities).toEqual(issued.authorities);
    expect(accepts(caBundle(reissued), reissued, start)).toBe(true);
    expect(await renew(reissued, start)).toBe(reissued);
  });

  it('keep the current authority until the next one is published', async () => {
    const issued = await renew(undefined, start);
    const next = await renew(issued, days(29));
    expect(next.authorities).toEqual([...issued.authorities, expect.anything()]);
    expect(signerOf(next)).toEqual(issued.authorities[0]);
    expect(await renew(next, days(29))).toBe(next);
    expect(signerOf(await until(next, 24 * 29, 24 * 29 + 1))).toEqual(next.authorities[1]);
  });

  it('are issued for another name at once, and keep the names of other processes', async () => {
    const issued = await renew(undefined, start);
    const other = await renew(issued, start, ['other.example']);
    expect(other.authorities).toEqual(issued.authorities);
    expect(new X509Certificate(other.serving.cert).checkHost('other.example')).toBe('other.example');
    expect(await renew(other, start)).toBe(other);
    expect(await renew(other, start, ['other.example'])).toBe(other);
    const later = await renew(other, days(6), ['other.example']);
    expect(later.serving).not.toEqual(other.serving);
    expect(new X509Certificate(later.serving.cert).subjectAltName).toBe('DNS:other.example');
  });
});

const names = [
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
  it.each(names)('normalizes %s to %s', (text, canonical) => {
    expect(hostOf(text ?? '')).toBe(canonical);
  });

  it.each([
    ...['', 'a b', 'a:8443', 'https://hooks.example/admission', '-a.example', 'user@hooks.example'],
    ...['010.0.0.1', 'fe80::1%eth0', `${'x'.repeat(64)}.example`, `${'x.'.repeat(130)}example`],
  ])('rejects %j', (text) => {
    expect(hostOf(text)).toBeUndefined();
  });

  it('returns the form that a certificate contains', async () => {
    const normalized = names.map(([text]) => hostOf(text ?? '') ?? '');
    const now = new Date();
    const issued = await renewed(undefined, normalized, now);
    expect(await renewed(issued, normalized, now)).toBe(issued);
    const certificate = new X509Certificate(issued.serving.cert);
    expect(normalized.map((name) => certificate.checkHost(name) ?? certificate.checkIP(name))).toEqual(normalized);
  });
});
