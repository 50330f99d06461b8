import { Buffer } from 'node:buffer';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutSecrets } from './safe-text.ts';

const upper = 'ABCDEFGHJKMNPQRSTUVWXYZ';
const chars = (alphabet: string, length: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: length, maxLength: length });
const alphanumeric = `${upper}${upper.toLowerCase()}0123456789`;
/** Long enough not to occur in a message by accident, with the characters that token generators use. */
const token = (length: number) => chars(alphanumeric, length).map((text) => `X${text.slice(2)}7`);
const word = chars(upper.toLowerCase(), 8);

/** Places of a secret in a text. */
const places: Record<string, (secret: string) => string> = {
  JSON: (secret) => `got {"username":"me","password":"${secret}"} left`,
  'JSON with spaces': (secret) => `got { "clientSecret" : "${secret}" } left`,
  'JSON in JSON': (secret) => `got "{\\"password\\":\\"${secret}\\"}" left`,
  'JSON of docker': (secret) => `got {"auths":{"ghcr.io":{"auth":"${secret}"}}} left`,
  'JSON that is cut': (secret) => `got {"password":"${secret}`,
  'JSON of an identity': (secret) => `got {"identity":"${secret}","known_hosts":"a"} left`,
  YAML: (secret) => `got password: ${secret} left`,
  'YAML with quotes': (secret) => `got password: "${secret} and more" left`,
  'YAML of a token': (secret) => `got token: ${secret} left`,
  'a Go struct': (secret) => `got {Username:me Password:${secret}} left`,
  'an argument': (secret) => `run --password=${secret} left`,
  'a variable': (secret) => `run AWS_SECRET_ACCESS_KEY=${secret} left`,
  'a connection string': (secret) => `AccountName=a;AccountKey=${secret};EndpointSuffix=b left`,
  'a query': (secret) => `GET https://a.example.com/x?access_token=${secret}&b=c: left`,
  'a header': (secret) => `Authorization: Bearer ${secret} left`,
  'a header as Go prints it': (secret) => `map[Authorization:[Bearer ${secret}]] left`,
  'a header in JSON': (secret) => `{"Authorization":"token ${secret}"} left`,
  'a header of GitLab': (secret) => `PRIVATE-TOKEN: ${secret} left`,
  'Basic of a short password': (secret) =>
    `Authorization failed for Basic ${Buffer.from(`me:${secret}`).toString('base64')} left`,
  Bearer: (secret) => `the server rejected Bearer ${secret} left`,
  'Bearer in quotes': (secret) => `the header was "Bearer ${secret}" left`,
  GitHub: (secret) => `token ghp_${secret} left`,
  'GitHub fine-grained': (secret) => `token github_pat_${secret}_${secret} left`,
  GitLab: (secret) => `token glpat-${secret} left`,
  'GitLab, routable': (secret) => `token glpat-${secret}.01.${secret} left`,
  Vault: (secret) => `token hvs.${secret} left`,
  age: (secret) => `no identity in AGE-SECRET-KEY-1${secret.toUpperCase()} left`,
  JWT: (secret) => `got eyJhbGciOiJSUzI1NiJ9.${secret}.${secret} left`,
};

describe('withoutSecrets', () => {
  it.each(Object.entries(places))('%s: removes the secret and keeps the rest', (name, place) => {
    fc.assert(
      fc.property(token(24), (secret) => {
        const safe = withoutSecrets(place(secret));
        expect(safe).not.toMatch(new RegExp(secret, 'i'));
        expect(safe).not.toContain(Buffer.from(`me:${secret}`).toString('base64'));
        expect(safe).toContain('***');
        if (name !== 'JSON that is cut') expect(safe).toMatch(/left$/);
      }),
    );
  });

  it.each(['a', 'b2', 's3cr3t', 'x\\"y'])('removes a short password %s', (secret) => {
    expect(withoutSecrets(`got {"password":"${secret}"} left`)).toBe('got {"password":"***"} left');
    const basic = Buffer.from(`me:${secret}`).toString('base64');
    expect(withoutSecrets(`with Basic ${basic} left`)).toBe('with Basic *** left');
  });

  it('removes a password that is a number', () => {
    expect(withoutSecrets('{"pin":1,"password":123456}')).toBe('{"pin":1,"password":"***"}');
  });

  it('removes an AWS key and its id', () => {
    fc.assert(
      fc.property(chars(`${upper}234567`, 16), chars(`${alphanumeric}/+`, 40), (id, key) => {
        const safe = withoutSecrets(`{"accesskey":"AKIA${id}","secretkey":"${key}"} and AKIA${id} left`);
        expect(safe).toBe('{"accesskey":"***","secretkey":"***"} and AKIA*** left');
      }),
    );
  });

  it.each([
    ['pkcs8', generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })],
    ['sec1', generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ type: 'sec1', format: 'pem' })],
    ['OpenSSH', `-----BEGIN OPENSSH PRIVATE KEY-----\n${'b3BlbnNza\n'.repeat(9)}-----END OPENSSH PRIVATE KEY-----\n`],
    ['PGP', `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${'lQOYBGX\n'.repeat(9)}-----END PGP PRIVATE KEY BLOCK-----\n`],
  ])('removes a private key (%s), in lines, in one line, escaped, in base64, cut', (_, pem) => {
    const text = String(pem).trim();
    const body = text.split('\n')[2] ?? '';
    const forms = [text, text.replaceAll('\n', '\\n'), text.replaceAll('\n', '\\\\n'), text.replaceAll('\n', ' ')];
    for (const form of forms) expect(withoutSecrets(`got ${form} left`)).toBe('got *** left');
    expect(withoutSecrets(`got ${text.slice(0, -40)}`)).toBe('got ***');
    expect(withoutSecrets(`{"identity":"${forms[1]}"}`)).toBe('{"identity":"***"}');
    const encoded = Buffer.from(text).toString('base64');
    expect(withoutSecrets(`identity: ${encoded} left`)).not.toContain(encoded.slice(20, 60));
    expect(body.length).toBeGreaterThan(0);
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(places)), token(24), (place, secret) => {
        const safe = withoutSecrets(place(secret));
        expect(withoutSecrets(safe)).toBe(safe);
      }),
    );
  });
});

describe('texts without secrets', () => {
  const hex = (length: number) => chars('0123456789abcdef', length);
  const name = fc.array(chars('abcdefghijklmnopqrstuvwxyz0123456789', 5), { minLength: 1, maxLength: 4 });
  const harmless = fc.oneof(
    hex(40).map((sha) => `main@sha1:${sha}`),
    hex(64).map((sha) => `ghcr.io/org/fleet@sha256:${sha}`),
    chars(`${alphanumeric}+/`, 43).map((print) => `SHA256:${print}`),
    hex(40),
    fc.uuid(),
    name.map((parts) => `/tmp/kustomization-42/${parts.join('/')}/secret.yaml`),
    name.map((parts) => `${parts.join('.')}.svc.cluster.local.`),
    name.map((parts) => `Secret/flux-system/${parts.join('-')}`),
    name.map((parts) => `secrets "${parts.join('-')}" not found`),
    name.map((parts) => `failed to get secret 'flux-system/${parts.join('-')}':`),
    fc.ipV4().map((ip) => `dial tcp ${ip}:22: connect: connection refused`),
    fc.constantFrom(
      ...['basic authentication', 'Basic auth', 'bearer token', 'Bearer authorization', 'bearer oauth2', 'password'],
      "invalid 'https' auth option: 'password' requires 'username' to be set",
      'Www-Authenticate: Bearer realm="https://ghcr.io/token",service="ghcr.io"',
      'failed to fetch token: context deadline exceeded',
      'token: Get "https://ghcr.io/token?scope=repository%3Aorg%2Ffleet%3Apull&service=ghcr.io": EOF',
      'no matches for kind "Token" in version "v1"',
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ',
      '{"secretRef":{"name":"flux-system"},"auth":{"type":"none"}}',
      'age1zyhut6uk754ayr3arpcelf2zvgrllmmj94q8pctwqnr66ul2g5as4wqujw: FAILED',
      'authorization failed: user is not allowed',
      '-----BEGIN CERTIFICATE-----',
    ),
  );

  it('are unchanged, alone and beside each other', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(harmless, word), { minLength: 1, maxLength: 6 }), (parts) => {
        const text = parts.join(' ');
        expect(withoutSecrets(text)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    'a',
    'a.',
    '/@a.bc',
    'https://',
    '"',
    '\\"',
    'password',
    'token: ',
    'x-token',
    'ghp_-',
    'eyJ',
    '-----BEGIN ',
  ])('take time in proportion to their length: %j', (part) => {
    const text = part.repeat(400_000 / part.length);
    expect(withoutSecrets(text).length).toBeLessThanOrEqual(text.length);
  });
});
