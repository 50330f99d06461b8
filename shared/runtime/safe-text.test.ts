import { Buffer } from 'node:buffer';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, LONGEST_QUOTE, safeText, withoutSecrets, withoutUrlCredentials } from './safe-text.ts';

describe('safeText', () => {
  it.each([
    ["unable to clone 'https://user:pa@ss@git.example.com/fleet.git': EOF", "'https://***@git.example.com/fleet.git'"],
    ['Get "https://b.s3.amazonaws.com/?X-Amz-Signature=s3cr3t&x=1": 403', 'X-Amz-Signature=***&x=1"'],
    ['client-key-data: LS0tLS1CRUdJTi1s3cr3t= left', 'client-key-data: *** left'],
    ['Authorization: token s3cr3t left', 'Authorization: token *** left'],
    ['https://b.example.com/?X-Goog-Signature=s3cr3t&x=1', 'X-Goog-Signature=***&x=1'],
    ['a red \u001b[1;31mghp_s3cr3ts3cr3ts3cr3ts3cr3t\u001b[0m token', 'a red ghp_*** token'],
  ])('removes the secret of %j', (text, expected) => {
    expect(safeText(text)).toContain(expected);
    expect(safeText(text)).not.toMatch(/s3cr3t|pa@ss/i);
  });

  it.each([
    'Applied revision: main@sha1:9c36b9c4bb6438104a703cb983aa8c62ff5e7c4c',
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
  'JSON of docker': (secret) => `got {"auths":{"ghcr.io":{"auth":"${secret}"}}} left`,
  'YAML of a token': (secret) => `got token: ${secret} left`,
  'a header in JSON': (secret) => `{"Authorization":"token ${secret}"} left`,
  'a header of GitLab': (secret) => `PRIVATE-TOKEN: ${secret} left`,
  'Bearer in quotes': (secret) => `the header was "Bearer ${secret}" left`,
  'GitHub fine-grained': (secret) => `token github_pat_${secret}_${secret} left`,
  'JSON in JSON': (secret) => `got "{\\"password\\":\\"${secret}\\"}" left`,
  'JSON that is cut': (secret) => `got {"password":"${secret}`,
  'JSON of an identity': (secret) => `got {"identity":"${secret}","known_hosts":"a"} left`,
  YAML: (secret) => `got password: ${secret} left`,
  'YAML with quotes': (secret) => `got password: "${secret} and more" left`,
  'a Go struct': (secret) => `got {Username:me Password:${secret}} left`,
  'an argument': (secret) => `run --password=${secret} left`,
  'a variable': (secret) => `run AWS_SECRET_ACCESS_KEY=${secret} left`,
  'a connection string': (secret) => `AccountName=a;AccountKey=${secret};EndpointSuffix=b left`,
  'a query': (secret) => `GET https://a.example.com/x?access_token=${secret}&b=c: left`,
  'a header': (secret) => `Authorization: Bearer ${secret} left`,
  'a header as Go prints it': (secret) => `map[Authorization:[Bearer ${secret}]] left`,
  'Basic of a short password': (secret) =>
    `Authorization failed for Basic ${Buffer.from(`me:${secret}`).toString('base64')} left`,
  Bearer: (secret) => `the server rejected Bearer ${secret} left`,
  GitHub: (secret) => `token ghp_${secret} left`,
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

  it.each(['a', 's3cr3t', 'x\\"y'])('removes a short password %s, and one that is a number', (secret) => {
    expect(withoutSecrets(`got {"password":"${secret}"} left`)).toBe('got {"password":"***"} left');
    const basic = Buffer.from(`me:${secret}`).toString('base64');
    expect(withoutSecrets(`with Basic ${basic} left`)).toBe('with Basic *** left');
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
    const forms = [text, text.replaceAll('\n', '\\n'), text.replaceAll('\n', '\\\\n'), text.replaceAll('\n', ' ')];
    for (const form of forms) expect(withoutSecrets(`got ${form} left`)).toBe('got *** left');
    expect(withoutSecrets(`got ${text.slice(0, -40)}`)).toBe('got ***');
    expect(withoutSecrets(`{"identity":"${forms[1]}"}`)).toBe('{"identity":"***"}');
    const encoded = Buffer.from(text).toString('base64');
    expect(withoutSecrets(`identity: ${encoded} left`)).not.toContain(encoded.slice(20, 60));
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

  const parts = [
    ...['a.', '/@a.bc', 'https://', '"', '\\"', 'password', 'token: ', 'x-token', 'ghp_-', 'eyJ', '-----BEGIN '],
  ];
  it.each(parts)('take time in proportion to their length: %j', (part) => {
    const text = part.repeat(400_000 / part.length);
    expect(withoutSecrets(text).length).toBeLessThanOrEqual(text.length);
  });
});

describe('withoutUrlCredentials', () => {
  it.each([
    ['https://user:p?a#ss@git.example.com:8443/fleet.git', 'https://***@git.example.com:8443/fleet.git'],
    ['https://me@corp.example:p/ss@git.example.com/fleet', 'https://***@git.example.com/fleet'],
    ['https://user:12/34@git.example.com/fleet.git', 'https://***@git.example.com/fleet.git'],
    ['https://me@corp.example:12/ss@git.example.com/fleet', 'https://***@git.example.com/fleet'],
    ['ssh://git:s3/cret@git.example.com/fleet', 'ssh://git@git.example.com/fleet'],
    ["parse 'https://user:pa'ss@git.example.com/fleet': x", "parse 'https://***@git.example.com/fleet': x"],
    ['parse "https://user:pa/ss@git-server/fleet": x', 'parse "https://***@git-server/fleet": x'],
    ['https://t0ken@git.example.com/fleet and x', 'https://***@git.example.com/fleet and x'],
    ['ssh://git:s3cret@git.example.com:2222/fleet', 'ssh://git@git.example.com:2222/fleet'],
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
    'oci://localhost:5000/org/fleet@sha256:18db1c40',
    'https://packages.example.com/@scope/name',
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

describe('a text that is cut', () => {
  it('ends between two words, so that no half of a secret remains', () => {
    expect(cutText('see https://user:password@example.com/a now', 24)).toBe('see ');
    expect(cutText('one two', 3)).toBe('one');
  });

  it('returns a beginning of at most the length, and whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (text, longest) => {
        const cut = cutText(text, longest);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(longest);
        expect(cut.isWellFormed()).toBe(true);
      }),
    );
  });
});
