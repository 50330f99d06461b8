import { describe, expect, it } from 'vitest';
import { LONGEST_QUOTE, safeText } from './safe-text.ts';

describe('safeText', () => {
  it.each([
    ["unable to clone 'https://user:pa@ss@git.example.com/fleet.git': EOF", "'https://***@git.example.com/fleet.git'"],
    ["unable to clone 'https://s3cr3ttoken@git.example.com/fleet': EOF", "'https://***@git.example.com/fleet'"],
    ["unable to clone 'ssh://git:s3cr3t@git.example.com/fleet': EOF", "'ssh://git@git.example.com/fleet'"],
    ['GET https://ghcr.io/token?scope=a&access_token=s3cr3t-12: DENIED', 'access_token=*** DENIED'],
    ['Get "https://b.s3.amazonaws.com/?X-Amz-Signature=s3cr3t&x=1": 403', 'X-Amz-Signature=***&x=1"'],
    ['header "Authorization: Bearer s3cr3t.s3cr3t.s3cr3t"', 'Bearer ***"'],
    ['key -----BEGIN OPENSSH PRIVATE KEY-----\ns3cr3t\n-----END OPENSSH PRIVATE KEY----- left', 'key *** left'],
    ['cut -----BEGIN PRIVATE KEY-----\ns3cr3t', 'cut ***'],
    ['no identity in AGE-SECRET-KEY-1S3CR3T', 'no identity in ***'],
    ['token ghp_s3cr3ts3cr3ts3cr3ts3cr3t refused', 'token ghp_*** refused'],
    ['PGP -----BEGIN PGP PRIVATE KEY BLOCK-----\ns3cr3t\n-----END PGP PRIVATE KEY BLOCK----- left', 'PGP *** left'],
    ['client-key-data: LS0tLS1CRUdJTi1s3cr3t= left', 'client-key-data: *** left'],
    ['Authorization: token s3cr3t left', 'Authorization: token *** left'],
    ['PRIVATE-TOKEN: s3cr3t left', 'PRIVATE-TOKEN: *** left'],
    ['https://b.example.com/?X-Goog-Signature=s3cr3t&x=1', 'X-Goog-Signature=***&x=1'],
    ['token glpat-s3cr3ts3cr3ts3cr3t refused', 'token glpat-*** refused'],
    ['got eyJhbGciOiJ.s3cr3t.s3cr3t', 'got ***'],
    ['a red \u001b[1;31mghp_s3cr3ts3cr3ts3cr3ts3cr3t\u001b[0m token', 'a red ghp_*** token'],
  ])('removes the secret of %j', (text, expected) => {
    expect(safeText(text)).toContain(expected);
    expect(safeText(text)).not.toMatch(/s3cr3t|pa@ss/i);
  });

  it.each([
    'Applied revision: main@sha1:9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c',
    "unable to clone 'ssh://git@github.com/org/fleet': ssh: handshake failed: knownhosts: key mismatch",
    'Deployment/gloo-system/gloo-gateway-proxy-deployment dry-run failed',
    'Support for basic authentication was removed',
    'failed to pull ghcr.io/org/fleet@sha256:18db1c40',
    'cannot get sops decryption Secret \'flux-system/sops-age\': Secret "sops-age" not found',
  ])('keeps %j unchanged', (text) => {
    expect(safeText(text)).toBe(text);
  });

  it.each(['http://a"', 'https://u:s3cr3t@h/"'])('reads only the start of a text of megabytes: %s …', (part) => {
    expect(safeText(part.repeat(100_000))).not.toContain('s3cr3t');
  });

  it('returns one line of limited length', () => {
    expect(safeText('Group 0: FAILED\n  age1: FAILED\n')).toBe('Group 0: FAILED age1: FAILED');
    expect(safeText('a'.repeat(9000))).toHaveLength(LONGEST_QUOTE + 1);
  });
});
