import { generateKeyPairSync } from 'node:crypto';
import { loopbackCertificate } from '@shoot-flux/landscape/certificate';
import { expect, test } from 'vitest';
import { contentProblem } from './secret-content.ts';

const { cert, key } = loopbackCertificate();
const pem = (type: 'ed25519' | 'rsa') =>
  (type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519')).privateKey
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
const [ed25519, rsa] = [pem('ed25519'), pem('rsa')];
const base64 = (text: string) => Buffer.from(text).toString('base64');
const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').toString('utf8');

const hostKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl';
/** As `ssh-keygen -H` hashes `git.example.org`. */
const hashed = `|1|mFFubmvEMgqDVki/3RkFeqm5Fss=|EDinH0C3i8c//Dd8dVG/bz4GXS0= ${hostKey}`;
const known_hosts = `[git.example.org]:7999 ${hostKey}\n`;

const object = (kind: string, spec: object) => ({ apiVersion: 'v1', kind, metadata: { name: 'a' }, spec });
const https = object('GitRepository', { url: 'https://git.example.org/org/fleet' });
const ssh = object('GitRepository', { url: 'ssh://git@git.example.org:7999/org/fleet' });
const azure = object('GitRepository', { url: 'ssh://git@ssh.dev.azure.com/v3/org/project/fleet' });
const app = object('GitRepository', { url: 'https://github.com/org/fleet', provider: 'github' });
const bucket = object('Bucket', { endpoint: 's3.example.org' });
const charts = object('HelmRepository', { url: 'https://charts.example.org' });
const registry = object('OCIRepository', { url: 'oci://ghcr.io/org/fleet' });
const receiver = object('Receiver', { type: 'github' });
const provider = object('Provider', { type: 'gitlab' });
const kustomization = object('Kustomization', {});

type Row = [what: ReturnType<typeof object>, data: Record<string, string>, sentence: string, path?: string];

const PART = 'which Flux takes as a part of it; ';
const TWICE = 'is encoded in base64 twice; encode it once, or write it into stringData';
const UTF16 = 'is binary or in UTF-16; write it as text in UTF-8, and keys and certificates as PEM';
const MARK = 'begins with a byte order mark; save it as UTF-8 without one';
const NO_CERTIFICATE = 'has no certificate in PEM form; write the certificate there as openssl x509 prints it';

test.each<Row>([
  [https, { username: 'u', password: 'marked\n' }, `password ends with a line break, ${PART}write it without one`],
  [https, { username: 'u', password: 'marked\r\n' }, `password ends with a line break, ${PART}`],
  [https, { username: 'u', password: '\nmarked' }, `password begins with a line break, ${PART}`],
  [https, { username: 'u ', password: 'marked' }, `username has a space at one end, ${PART}remove it`],
  [https, { bearerToken: 'marked ' }, `bearerToken has a space at one end, ${PART}`],
  [https, { bearerToken: '\uFEFFmarked' }, `bearerToken ${MARK}`],
  [https, { username: 'u', password: utf16('marked') }, `password ${UTF16}`],
  [https, { 'ca.crt': 'marked' }, `ca.crt ${NO_CERTIFICATE}`],
  [https, { caFile: base64(cert) }, `caFile ${TWICE}`],
  [https, { 'ca.crt': key }, 'ca.crt holds a private key instead of a certificate; write'],
  [https, { 'ca.crt': cert.replace(/\n.{64}\n/, '\n') }, 'ca.crt is damaged; write'],
  [https, { 'ca.crt': cert.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE') }, `ca.crt ${NO_CERTIFICATE}`],
  [https, { 'ca.crt': `\uFEFF${cert}` }, `ca.crt ${MARK}`],
  [https, { 'ca.crt': '0\u0082\0marked' }, `ca.crt ${UTF16}`],
  [https, { 'tls.crt': cert, 'tls.key': cert }, 'tls.key is a certificate; write the key'],
  [
    https,
    { 'tls.crt': cert, 'tls.key': key.replaceAll('PRIVATE', 'OPENSSH PRIVATE') },
    'tls.key is encrypted or in the form of OpenSSH, which Flux does not read here; convert it with openssl pkey',
  ],
  [ssh, { identity: base64(ed25519), known_hosts }, `identity ${TWICE}`],
  [ssh, { identity: utf16(ed25519), known_hosts }, `identity ${UTF16}`],
  [ssh, { identity: `\uFEFF${ed25519}`, known_hosts }, `identity ${MARK}`],
  [ssh, { identity: hostKey, known_hosts }, 'identity is a public key; write the private key there'],
  [ssh, { identity: 'marked', known_hosts }, 'identity is not a private key in a format that Flux reads'],
  [
    ssh,
    { identity: ed25519, known_hosts: `git.example.org ${hostKey}` },
    'known_hosts has no line for [git.example.org]:7999; add the lines that ssh-keyscan -p 7999 git.example.org prints (they begin with [git.example.org]:7999)',
  ],
  [ssh, { known_hosts: hashed }, 'known_hosts has no line for [git.example.org]:7999; add'],
  [ssh, { known_hosts: `example.com ${hostKey}` }, 'known_hosts has no line for [git.example.org]:7999; add the lines'],
  [
    azure,
    { identity: ed25519 },
    'identity is a key of type ssh-ed25519, and Azure DevOps takes RSA keys only; replace it with an RSA key',
  ],
  [app, { githubAppID: '1\n', githubAppInstallationID: '2' }, 'githubAppID has a line break or a space'],
  [
    app,
    { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey: ed25519 },
    'githubAppPrivateKey is no RSA key; add the whole file that GitHub has generated',
  ],
  [bucket, { accesskey: 'a', secretkey: 'marked\n' }, `secretkey ends with a line break, ${PART}`],
  [charts, { username: 'u\n', password: 'marked' }, `username ends with a line break, ${PART}`],
  [registry, { '.dockerconfigjson': base64('{"auths":{}}') }, `.dockerconfigjson ${TWICE}`],
  [registry, { '.dockerconfigjson': 'marked' }, '.dockerconfigjson is not JSON; recreate the Secret'],
  [receiver, { token: 'marked\n' }, `token ends with a line break, ${PART}`],
  [https, { address: 'http://proxy\n' }, `address ends with a line break, ${PART}`, 'spec.proxySecretRef'],
  [https, { address: 'http://proxy', password: 'marked\n' }, 'password ends with', 'spec.proxySecretRef'],
  [bucket, { 'ca.crt': 'marked' }, `ca.crt ${NO_CERTIFICATE}`, 'spec.certSecretRef'],
  [kustomization, { 'age.agekey': base64('AGE-SECRET-KEY-1') }, `age.agekey ${TWICE}`, 'spec.decryption.secretRef'],
])('%#: says what is wrong: %j %j', (what, data, sentence, path = 'spec.secretRef') => {
  const problem = contentProblem(what, path, data);
  expect(problem).toContain(sentence);
  expect(problem).not.toMatch(/marked|[\w+/]{40}/);
});

/** The password of a registry of AWS looks like this. */
const jsonToken = base64('{"payload":"marked","version":"2"}');

test.each<[what: ReturnType<typeof object>, data: Record<string, string>, path?: string]>([
  [https, { username: 'u', password: ' marked ' }],
  [https, { username: 'u', password: jsonToken }],
  [https, { username: 'first last', password: 'marked' }],
  [https, { bearerToken: jsonToken, password: 'not read\n' }],
  [https, { username: 'u', password: 'marked', identity: 'not read' }],
  [https, { 'ca.crt': `# our authority\n${cert}\n${cert}`, 'tls.crt': `${cert}${cert}`, 'tls.key': `\n${key}` }],
  [https, { 'ca.crt': cert.replaceAll('\n', '\r\n') }],
  [ssh, { identity: ed25519, known_hosts, password: 'not read, because the key is not encrypted\n' }],
  [ssh, { identity: ed25519.trimEnd(), known_hosts: `# comment\r\n${known_hosts.replace('\n', '\r\n')}` }],
  [ssh, { identity: ed25519, known_hosts, 'identity.pub': 'not read', username: 'not read\n' }],
  [azure, { identity: rsa }],
  [app, { githubAppID: '1', githubAppInstallationID: '2', githubAppPrivateKey: rsa }],
  [registry, { '.dockerconfigjson': '{"auths":{}}\n' }],
  [object('Receiver', { type: 'generic' }), { token: 'a\n' }],
  [provider, { token: 'not checked\n' }],
  [kustomization, { 'age.agekey': '# created\r\nAGE-SECRET-KEY-1\r\n' }, 'spec.decryption.secretRef'],
  [kustomization, { 'sops.vault-token': 'trimmed\n', 'key.asc': 'binary\0' }, 'spec.decryption.secretRef'],
  [object('HelmRelease', {}), { 'values.yaml': '\uFEFFa: b\n' }, 'spec.valuesFrom[0]'],
])('%#: accepts what Flux accepts: %j %j', (what, data, path = 'spec.secretRef') => {
  expect(contentProblem(what, path, data)).toBeUndefined();
});

test('takes no long time for any value of a megabyte', () => {
  const long = (unit: string) => unit.repeat(Math.floor(2 ** 20 / unit.length));
  const begin = '-----BEGIN CERTIFICATE-----\n';
  const values = [
    `eyJ${long(' ')}!`,
    `LS0tLS1CRUdJTi${long('A')}!`,
    long(begin),
    `${begin}${long('A')}`,
    long('\n '),
    long(':1'),
  ];
  const before = process.cpuUsage();
  for (const value of values) {
    for (const key of [
      'ca.crt',
      'tls.crt',
      'tls.key',
      'identity',
      'known_hosts',
      'username',
      'password',
      'bearerToken',
    ]) {
      contentProblem(key === 'identity' || key === 'known_hosts' ? ssh : https, 'spec.secretRef', { [key]: value });
    }
  }
  // CPU time, because the time on a clock depends on what else the machine does.
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});

test('accepts a key whose lines OpenSSL does not read, and Go does', () => {
  const joined = key.trim().split('\n');
  const [first, last] = [joined.shift(), joined.pop()];
  const data = { 'tls.crt': cert, 'tls.key': `${first}\n  ${joined.join('')}\n${last}\n` };
  expect(contentProblem(https, 'spec.secretRef', data)).toBeUndefined();
});
