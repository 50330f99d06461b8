import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutUrlCredentials } from './safe-text.ts';

describe('withoutUrlCredentials', () => {
  it.each([
    ['https://user:pa@ss@git.example.com/fleet.git', 'https://***@git.example.com/fleet.git'],
    ['https://user:pa/ss@git.example.com/fleet.git', 'https://***@git.example.com/fleet.git'],
    ['https://user:p@a/ss@git.example.com/fleet.git', 'https://***@git.example.com/fleet.git'],
    ['https://user:12/34@git.example.com/fleet.git', 'https://***@git.example.com/fleet.git'],
    ['https://user:p?a#ss@git.example.com:8443/fleet.git', 'https://***@git.example.com:8443/fleet.git'],
    ['https://me@corp.example:p/ss@git.example.com/fleet', 'https://***@git.example.com/fleet'],
    ['https://me@corp.example:12/ss@git.example.com/fleet', 'https://***@git.example.com/fleet'],
    ["parse 'https://user:pa'ss@git.example.com/fleet': x", "parse 'https://***@git.example.com/fleet': x"],
    ['parse "https://user:pa/ss@git-server/fleet": x', 'parse "https://***@git-server/fleet": x'],
    ['https://t0ken@git.example.com/fleet and x', 'https://***@git.example.com/fleet and x'],
    ['ssh://git:s3cret@git.example.com:2222/fleet', 'ssh://git@git.example.com:2222/fleet'],
    ['ssh://git:s3/cret@git.example.com/fleet', 'ssh://git@git.example.com/fleet'],
    [
      '"https://a:b@one.example.com/x","https://c:d@two.example.com/y"',
      '"https://***@one.example.com/x","https://***@two.example.com/y"',
    ],
    ['https://u:p@ghcr.io/org/fleet@sha256:18db1c40', 'https://***@ghcr.io/org/fleet@sha256:18db1c40'],
    ['HTTPS://user:pass@git.example.com', 'HTTPS://***@git.example.com'],
  ])('removes the credentials of %s', (text, safe) => {
    expect(withoutUrlCredentials(text)).toBe(safe);
  });

  it.each([
    'https://git.example.com:8443/org/fleet@v1.2/charts',
    'oci://ghcr.io/org/fleet@sha256:18db1c40',
    'oci://localhost:5000/org/fleet@sha256:18db1c40',
    'https://packages.example.com/@scope/name',
    'ssh://git@github.com/org/fleet',
    'http://[fd00::1]:9090/x@y.example.com',
    'git@github.com:org/fleet',
    'see https://fluxcd.io/flux/ or mail to me@example.com',
    "Get 'https://git.example.com/fleet': mail to me@example.com",
  ])('keeps %s unchanged', (text) => {
    expect(withoutUrlCredentials(text)).toBe(text);
  });

  const label = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/);
  const host = fc
    .tuple(label, label, fc.constantFrom('', ':443', ':8080'))
    .map(([one, two, port]) => `${one}.${two}.com${port}`);
  /** A password that is not escaped. */
  const password = fc.stringMatching(/^[\w/@?#.!$&*+,;=%~^|(){}[\]-]{8,24}$/).filter((text) => /[A-Z]/.test(text));

  it('removes every password, whatever its characters', () => {
    fc.assert(
      fc.property(label, password, host, label, (user, secret, at, path) => {
        const text = `unable to clone 'https://${user}:${secret}@${at}/${path}': EOF`;
        expect(withoutUrlCredentials(text)).toBe(`unable to clone 'https://***@${at}/${path}': EOF`);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps every URL without credentials unchanged', () => {
    const path = fc.array(fc.stringMatching(/^[\w.~-]{1,10}$/), { maxLength: 4 }).map((parts) => parts.join('/'));
    const end = fc.constantFrom('', '@sha256:18db1c40', '@v1.2', '?ref=main', '#L1');
    fc.assert(
      fc.property(fc.constantFrom('https', 'http', 'oci'), host, path, end, (scheme, at, folders, last) => {
        const text = `"${scheme}://${at}/${folders}${last}"`;
        expect(withoutUrlCredentials(text)).toBe(text);
      }),
    );
  });
});
