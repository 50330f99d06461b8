import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Certificates, caBundle, due, namesFor } from './certificates.ts';
import { renewed } from './make-certificates.ts';

const start = new Date('2026-01-02T03:04:05Z');
const HOUR = 3_600_000;
const hours = (count: number) => new Date(start.getTime() + count * HOUR);
const days = (count: number) => hours(24 * count);
const hosts = ['shoot-flux.shoot-flux.svc', '127.0.0.1'];

const isAnything = (certificates: Certificates | undefined, now: Date, names = hosts) =>
  Object.values(due(certificates, names, now)).includes(true);

async function renew(certificates: Certificates | undefined, now: Date, names = hosts): Promise<Certificates> {
  return renewed(certificates, due(certificates, names, now), names, now);
}

/** As a process does it that looks every hour. */
async function until(certificates: Certificates, from: number, until: number): Promise<Certificates> {
  let current = certificates;
  for (let hour = from; hour <= until; hour++) {
    if (isAnything(current, hours(hour))) current = await renew(current, hours(hour));
  }
  return current;
}

/** Whether somebody who trusts this bundle accepts this certificate at this time, for all the names. */
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
  it('are made where there are none, and then nothing is due', async () => {
    const made = await renew(undefined, start);
    expect(accepts(caBundle(made), made, start)).toBe(true);
    expect(isAnything(made, start)).toBe(false);
    expect(isAnything(made, hours(100))).toBe(false);
  });

  it('are accepted at any time, also by who hears of them an hour late, and also when served an hour long after', async () => {
    let late = await renew(undefined, start);
    let current = late;
    const authorities = new Set([current.authority.cert]);
    for (let hour = 1; hour <= 24 * 100; hour++) {
      const now = hours(hour);
      if (isAnything(current, now)) current = await renew(current, now);
      authorities.add(current.authority.cert);
      const news =
        current === late ? [] : [accepts(caBundle(late), current, now), accepts(caBundle(current), late, now)];
      if ([accepts(caBundle(current), current, now), ...news].includes(false))
        throw new Error(`not accepted at hour ${hour}`);
      late = current;
    }
    // One every 25 days.
    expect(authorities.size).toBe(5);
  });

  it('begin to rotate ten days before the end of the authority, and end with one again', async () => {
    const made = await renew(undefined, start);
    const before = await until(made, 1, 24 * 20 - 1);
    expect(before.authority).toEqual(made.authority);
    expect(before.next).toBeUndefined();
    const next = await until(before, 24 * 20, 24 * 20);
    expect(next).toMatchObject({ authority: made.authority, next: { cert: expect.any(String) } });
    const taken = await until(next, 24 * 20, 24 * 25);
    expect(taken).toMatchObject({ authority: next.next, former: made.authority.cert });
    expect(taken.next).toBeUndefined();
    const forgotten = await until(taken, 24 * 25, 24 * 30);
    expect(caBundle(forgotten)).toBe(next.next?.cert);
  });

  it('are all made anew when nobody looked after them until the authority had expired', async () => {
    const made = await renew(undefined, start);
    const anew = await renew(made, days(31));
    expect(caBundle(anew)).not.toContain(made.authority.cert);
    expect(accepts(caBundle(anew), anew, days(31))).toBe(true);
  });

  it('are made anew when a clock that was ahead has made them', async () => {
    const ahead = await renew(undefined, days(400));
    const anew = await renew(ahead, start);
    expect(accepts(caBundle(anew), anew, start)).toBe(true);
    expect(isAnything(anew, start)).toBe(false);
  });

  it('get another serving certificate when a clock that was ahead has made that one', async () => {
    const made = await renew(undefined, start);
    const ahead = await renew(made, days(2), ['other.example', ...hosts]);
    const anew = await renew(ahead, start);
    expect(anew.authority).toEqual(made.authority);
    expect(accepts(caBundle(anew), anew, start)).toBe(true);
    expect(isAnything(anew, start)).toBe(false);
  });

  it('of a next authority that is known to nobody yet do not take over', async () => {
    const made = await renew(undefined, start);
    const next = await renew(made, days(29));
    expect(next).toMatchObject({ authority: made.authority, next: { cert: expect.any(String) } });
    expect(isAnything(next, days(29))).toBe(false);
    expect(await until(next, 24 * 29, 24 * 29 + 1)).toMatchObject({ authority: next.next });
  });

  it('are made for another name at once, and keep those of other processes', async () => {
    const made = await renew(undefined, start);
    const other = await renew(made, start, ['other.example']);
    expect(other.authority).toEqual(made.authority);
    expect(new X509Certificate(other.serving.cert).checkHost('other.example')).toBe('other.example');
    expect(isAnything(other, start)).toBe(false);
    expect(isAnything(other, start, ['other.example'])).toBe(false);
    expect(namesFor(other, ['other.example'])).toEqual(['other.example']);
  });
});
